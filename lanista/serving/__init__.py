"""Following an alias through the REST API, `lanista serve`, and `lanista.load`."""
