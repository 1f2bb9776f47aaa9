"""A real Slurm cluster of two nodes on this machine, for tests and for trying things out.

Runs slurmctld, slurmd and munge from Debian's packages in a folder of its own, on ports of its own,
without systemd and control groups. Each node is in a namespace with a host name of its own, so that
to a program the two are two machines with a shared folder.

    tests/cluster/slurm.py          starts the cluster and a shell in which sbatch and squeue use it
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGES = ["slurmctld", "slurmd", "slurm-client", "munge"]
PROGRAMS = ["slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "munged", "unshare"]

CONFIG = """
ClusterName=pgn
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
# A requeued job may start again once its old credential has expired.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmctldPort={ports[0]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=2
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdTimeout=6
KillWait=5
ReturnToService=2
JobRequeue=1
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """What is missing for a cluster, in one line, after trying to install it."""
    if os.geteuid() != 0:
        return "a Slurm cluster needs root"

    def absent() -> list[str]:
        path = os.environ["PATH"] + ":/usr/sbin:/sbin"
        return [program for program in PROGRAMS if not shutil.which(program, path=path)]

    if absent() and shutil.which("apt-get"):
        for command in (
            ["apt-get", "update"],
            ["apt-get", "install", "-y", "--no-install-recommends", *PACKAGES],
        ):
            environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
            subprocess.run(command, env=environment, capture_output=True, check=False)
    if absent():
        return f"install {' '.join(PACKAGES)} ({', '.join(absent())} not found)"
    return None


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Slurm:
    """A cluster; `with` starts it and stops it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pgn-slurm-"))
        self.config = self.folder / "slurm.conf"
        self.environment = {
            **os.environ,
            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin",
            "SLURM_CONF": str(self.config),
        }
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "Slurm":
        # Told to end, as by timeout, the daemons must not stay behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        folder = self.folder
        folder.chmod(0o755)
        (folder / "state").mkdir()
        key = folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o600)
        host = socket.gethostname().split(".")[0]
        ports = free_ports(3)
        self.config.write_text(CONFIG.format(folder=folder, host=host, ports=ports))
        self.daemon(
            "munged",
            ["munged", "--foreground", "--force", f"--key-file={key}"]
            + [f"--{name}={folder}/munge.{name}" for name in ("socket", "seed-file", "log-file")]
            + [f"--pid-file={folder}/munge.pid"],
        )
        self.until(lambda: (folder / "munge.socket").exists(), "munged starts")
        self.daemon("slurmctld", ["slurmctld", "-D", "-c"])
        for node in ("n1", "n2"):
            self.start_node(node)
        self.until(lambda: self.nodes() == {"n1": "idle", "n2": "idle"}, "both nodes are up")

    def daemon(self, name: str, command: list[str]) -> None:
        with open(self.folder / f"{name}.out", "ab") as out:
            self.daemons[name] = subprocess.Popen(
                command, env=self.environment, stdout=out, stderr=out, start_new_session=True
            )

    def start_node(self, node: str) -> None:
        script = f"hostname {node} && exec slurmd -D -N {node}"
        self.daemon(node, ["unshare", "--uts", "sh", "-c", script])

    def lose_node(self, node: str) -> list[int]:
        """A node that is cut off: its daemon is gone, its jobs stand still. Returns their
        processes, which `kill -CONT` brings back."""
        frozen = self.processes(node)
        for process in frozen:
            os.kill(process, signal.SIGSTOP)
        self.daemons[node].kill()
        self.daemons.pop(node).wait()
        return frozen

    def processes(self, node: str) -> list[int]:
        """The processes of the jobs on a node, and what starts them there."""
        mine = []
        namespace = os.readlink(f"/proc/{self.daemons[node].pid}/ns/uts")
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and os.readlink(process / "ns/uts") == namespace:
                    mine.append(int(process.name))
            except OSError:
                pass
        return [process for process in mine if process != self.daemons[node].pid]

    def run(self, *command: str, check: bool = True) -> str:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
        return done.stdout

    def nodes(self) -> dict[str, str]:
        lines = self.run("sinfo", "-N", "-h", "-o", "%N %t", check=False).splitlines()
        return dict(line.split() for line in lines)

    def jobs(self) -> list[dict[str, str]]:
        """Every task of every job that is not over."""
        lines = self.run("squeue", "-h", "-r", "-o", "%i|%j|%T|%N|%r").splitlines()
        keys = ("id", "name", "state", "node", "reason")
        return [dict(zip(keys, line.split("|"), strict=True)) for line in lines]

    def until(self, done: object, what: str, seconds: float = 900) -> None:
        """Waits. Only what hangs ever gets near the limit."""
        end = time.monotonic() + seconds
        while not done():  # type: ignore[operator]
            if time.monotonic() > end:
                logs = {path.name: path.read_text()[-2000:] for path in self.folder.glob("*.log")}
                raise TimeoutError(f"waited in vain until {what}: {self.jobs()} {logs}")
            time.sleep(0.2)

    def stop(self) -> None:
        nodes = [node for node in ("n1", "n2") if node in self.daemons]
        for process in [process for node in nodes for process in self.processes(node)]:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for daemon in self.daemons.values():
            daemon.kill()
            daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


if __name__ == "__main__":
    if (lack := missing()) is not None:
        sys.exit(f"error: {lack}")
    with Slurm() as cluster:
        print("sbatch, squeue and sinfo are those of a cluster of two nodes; exit ends it")
        subprocess.run([os.environ.get("SHELL", "/bin/bash")], env=cluster.environment, check=False)
