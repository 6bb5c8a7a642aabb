"""Pure functions from results to what the widgets show. No widget, no network, no state."""
