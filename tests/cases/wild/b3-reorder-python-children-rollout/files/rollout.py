import subprocess, sys
def step(n, what, *cmd):
    print(f"[rollout] step {n}/6: {what}")
    r = subprocess.run(cmd)
    print(f"[rollout] step {n}/6: done, status {r.returncode}")
    return r.returncode
bad = 0
bad += step(1, "unpack bundle", "sh", "-c", "echo \"tar: Removing leading '/' from member names\" >&2")
bad += step(2, "check bundle", "sh", "-c", "echo 'manifest.json: OK'; echo 'assets.tar: OK'; echo 'portal.war: OK'")
bad += step(3, "install to /srv/www/portal", "cp", "-r", "bundle/.", "/srv/www/portal/")
bad += step(4, "reload config", "sh", "-c", "echo 'portalctl: WARNING: key http.legacy is deprecated'; echo 'portalctl: configuration reloaded'")
bad += step(5, "warm cache", "sh", "-c", "echo 'warm: 40 pages, 0 errors, 3.1 s'")
bad += step(6, "smoke test", "sh", "-c", "echo 'smoke: GET / 200'; echo 'smoke: version 7.3.9, expected 7.4.0' >&2; exit 4")
print(f"[rollout] {6} steps run, {'FAILED' if bad else 'ok'}")
sys.exit(1 if bad else 0)
