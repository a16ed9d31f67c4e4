"""Options of the learning algorithms, as a trial file gives them. Algorithms take their options from here."""
