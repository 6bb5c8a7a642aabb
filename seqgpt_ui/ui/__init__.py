"""The pages. They show results of the pipeline; they know nothing of models, tokens or files of jobs."""
