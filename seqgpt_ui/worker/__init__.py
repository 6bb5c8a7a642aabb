"""The worker process: owns the weights, answers prompts over HTTP. Knows no tasks, files or pages."""
