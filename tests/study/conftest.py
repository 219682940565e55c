import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # voices.py, shared by the tests of this folder
