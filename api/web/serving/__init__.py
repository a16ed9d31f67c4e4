"""The HTTP server below the application: limits on connections, headers and time; addresses of callers."""
