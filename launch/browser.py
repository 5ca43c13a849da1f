"""Chromium for the browser tests: found, installed through apt where that is allowed, or named as missing."""

import os
import shutil
import subprocess

NAMES = ("chromium", "chromium-browser", "google-chrome")


def prepare() -> None:
    """See to a Chromium on the path; where none can be had, say what will be skipped."""
    if any(shutil.which(name) for name in NAMES):
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing Chromium for the browser tests ...", flush=True)
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "-qq", "update"], ["apt-get", "-qq", "install", "-y", "chromium"]):
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)
    if not any(shutil.which(name) for name in NAMES):
        print("No Chromium found: the browser tests will be skipped (apt-get install chromium).", flush=True)
