"""Tasks: what is asked about a document and what the answers mean. Pure; knows neither worker, files nor pages."""
