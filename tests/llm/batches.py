"""A batch endpoint on loopback, in the format that OpenAI published: files, batches, and answers
when they are ready.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from parts.standin import Body, StandIn, http


class BatchStandIn(StandIn):
    """`polls`: how often a batch is looked at before it is done. `broken(body)` names calls that
    fail inside a batch.
    """

    def __init__(
        self,
        answer: Callable[[Body], str],
        *,
        polls: int = 1,
        broken: Callable[[Body], bool] = lambda _: False,
    ) -> None:
        super().__init__(answer)
        self.polls, self.broken = polls, broken
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.calls: list[Body] = []

    async def respond(self, method: str, path: str, raw: bytes) -> bytes | None:
        parts = path.removeprefix("/v1/").split("/")
        if parts[0] == "files" and method == "POST":
            lines = [line for line in raw.splitlines() if line.startswith(b'{"custom_id"')]
            name = f"file-{len(self.files)}"
            self.files[name] = b"\n".join(lines)
            return self._json(
                {
                    "id": name,
                    "object": "file",
                    "bytes": len(raw),
                    "created_at": 0,
                    "filename": "x",
                    "purpose": "batch",
                    "status": "processed",
                }
            )
        if parts[0] == "files":
            return http(200, self.files[parts[1]])
        if parts[0] == "batches" and method == "POST" and len(parts) == 1:
            return self._json(self._make(json.loads(raw)))
        if parts[0] == "batches":
            return self._json(self._look(self.batches[parts[1]], cancel=parts[-1] == "cancel"))
        return await super().respond(method, path, raw)

    def _make(self, asked: Body) -> Body:
        assert asked["endpoint"] == "/v1/chat/completions"
        batch = {
            "id": f"batch-{len(self.batches)}", "object": "batch", "created_at": 0, "status": "in_progress", "seen": 0,
            "output_file_id": None, "error_file_id": None, **asked,
        }  # fmt: skip
        self.batches[batch["id"]] = batch
        return batch

    def _look(self, batch: Body, *, cancel: bool) -> Body:
        batch["seen"] += 1
        if cancel:
            batch["status"] = "cancelled"
        elif batch["status"] == "in_progress" and batch["seen"] > self.polls:
            self._work_off(batch)
        return batch

    def _work_off(self, batch: Body) -> None:
        good, bad = [], []
        for line in self.files[batch["input_file_id"]].splitlines():
            call = json.loads(line)
            self.calls.append(call["body"])
            if self.broken(call["body"]):
                bad.append(
                    {
                        "custom_id": call["custom_id"],
                        "response": {"status_code": 500, "body": {}},
                        "error": None,
                    }
                )
                continue
            body = self.completion(
                call["body"], {"role": "assistant", "content": self.answer(call["body"])}
            )
            good.append(
                {
                    "custom_id": call["custom_id"],
                    "response": {"status_code": 200, "body": body},
                    "error": None,
                }
            )
        for field, lines in (("output_file_id", good), ("error_file_id", bad)):
            if lines:
                batch[field] = f"file-{len(self.files)}"
                self.files[batch[field]] = b"\n".join(json.dumps(line).encode() for line in lines)
        batch["status"] = "completed"

    def _json(self, value: Body) -> bytes:
        return http(200, json.dumps(value).encode())
