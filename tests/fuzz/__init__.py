"""Random files and random command lines: short runs in the suite, long ones by hand (see the modules' ends)."""
