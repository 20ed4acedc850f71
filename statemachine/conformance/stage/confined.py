"""What an event loop on the stage refuses: everything that leaves the thread.

Theory. Whatever a thread, a socket, a process or a signal does arrives when it likes. The stage has
to decide that moment, so none of them may be used on it; the message says what to do instead.
"""

from asyncio import AbstractEventLoop
from typing import Any, NoReturn

__all__ = ["ConfinedLoop"]


def _gate_instead(name: str) -> Any:  # noqa: ANN401  # stands for many signatures at once
    """Make the method that refuses one way out of the loop."""

    def refuse(*_args: object, **_options: object) -> NoReturn:
        message = f"{name} leaves the deterministic loop; make it a gate of the stage"
        raise NotImplementedError(message)

    refuse.__name__ = name
    return refuse


class ConfinedLoop(AbstractEventLoop):
    """An event loop without executors, sockets, pipes, processes and signals."""

    run_in_executor = _gate_instead("run_in_executor")
    set_default_executor = _gate_instead("set_default_executor")
    getaddrinfo = _gate_instead("getaddrinfo")
    getnameinfo = _gate_instead("getnameinfo")
    create_connection = _gate_instead("create_connection")
    create_server = _gate_instead("create_server")
    create_unix_connection = _gate_instead("create_unix_connection")
    create_unix_server = _gate_instead("create_unix_server")
    create_datagram_endpoint = _gate_instead("create_datagram_endpoint")
    connect_accepted_socket = _gate_instead("connect_accepted_socket")
    start_tls = _gate_instead("start_tls")
    sendfile = _gate_instead("sendfile")
    connect_read_pipe = _gate_instead("connect_read_pipe")
    connect_write_pipe = _gate_instead("connect_write_pipe")
    subprocess_shell = _gate_instead("subprocess_shell")
    subprocess_exec = _gate_instead("subprocess_exec")
    add_reader = _gate_instead("add_reader")
    remove_reader = _gate_instead("remove_reader")
    add_writer = _gate_instead("add_writer")
    remove_writer = _gate_instead("remove_writer")
    sock_recv = _gate_instead("sock_recv")
    sock_recv_into = _gate_instead("sock_recv_into")
    sock_recvfrom = _gate_instead("sock_recvfrom")
    sock_recvfrom_into = _gate_instead("sock_recvfrom_into")
    sock_sendall = _gate_instead("sock_sendall")
    sock_sendto = _gate_instead("sock_sendto")
    sock_connect = _gate_instead("sock_connect")
    sock_accept = _gate_instead("sock_accept")
    sock_sendfile = _gate_instead("sock_sendfile")
    add_signal_handler = _gate_instead("add_signal_handler")
    remove_signal_handler = _gate_instead("remove_signal_handler")
