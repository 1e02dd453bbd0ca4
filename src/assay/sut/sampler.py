"""CPU, memory and threads of a server's whole process tree.

CPU time comes in the kernel's clock ticks (10 ms): over a measured phase of ten seconds that is
0.1 %. Processes that ended meanwhile count through their parents, which collected their times; one
whose parent ignores its children's ends (SA_NOCLDWAIT) is lost to the kernel's own books, and so to ours.
Memory is summed over the tree at each sample: pages that processes share are counted for each.
"""

from __future__ import annotations

import psutil


class Sampler:
    """Looks at the tree below a keeper."""

    def __init__(self, keeper_pid: int) -> None:
        """`keeper_pid` is the parent of the tree; its own use does not count."""
        self._keeper = psutil.Process(keeper_pid)
        self.peak_rss_bytes = 0
        self.threads = 0

    def sample(self) -> None:
        """Take memory and threads into the peaks."""
        rss_bytes = threads = 0
        for process in self._tree():
            try:
                with process.oneshot():
                    rss_bytes += process.memory_info().rss
                    threads += process.num_threads()
            except psutil.Error:
                continue  # it ended between the listing and the look
        self.peak_rss_bytes = max(self.peak_rss_bytes, rss_bytes)
        self.threads = max(self.threads, threads)

    def cpu_ns(self) -> int:
        """CPU time that the tree has used so far, of ended processes too."""
        seconds = 0.0
        try:
            ended = self._keeper.cpu_times()
            seconds += ended.children_user + ended.children_system
        except psutil.Error:
            return 0
        for process in self._tree():
            try:
                used = process.cpu_times()
            except psutil.Error:
                continue
            seconds += used.user + used.system + used.children_user + used.children_system
        return round(seconds * 1e9)

    def _tree(self) -> list[psutil.Process]:
        try:
            return self._keeper.children(recursive=True)
        except psutil.Error:
            return []
