"""Growth by simulation: where the first limit of the orchestration lies, from measured costs."""
