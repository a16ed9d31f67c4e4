"""A campaign of faults: pieces, each a league of its own with its own audits, whose tallies are added up."""
