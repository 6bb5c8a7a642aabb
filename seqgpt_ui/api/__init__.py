"""The public REST interface of the web process. Knows the pipeline and its results; never models or pages."""
