"""The local stack: real Postgres, Temporal and Ray, the workers, the API and TensorBoard as supervised children."""
