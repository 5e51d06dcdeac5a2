//! A NATS server of a test.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::nats::Broker;

/// A NATS server with a directory of its own.
pub(super) struct Server {
    pub(super) folder: TempDir,
    pub(super) port: u16,
    pub(super) arguments: Vec<String>,
    pub(super) child: Child,
}

impl Server {
    pub(super) fn start(arguments: &[&str]) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
        let (child, port) = Server::spawn(folder.path(), None, &arguments);
        Server { folder, port, arguments, child }
    }

    /// Starts it on this port or on a free one, which it returns.
    fn spawn(folder: &Path, port: Option<u16>, arguments: &[String]) -> (Child, u16) {
        let spawn = || {
            let mut server = Command::new("nats-server");
            server.args(["-js", "-a", "127.0.0.1", "-p"]);
            server.arg(port.map_or("-1".to_owned(), |port| port.to_string()));
            server.arg("-sd").arg(folder.join("store")).arg("--ports_file_dir").arg(folder);
            server.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            server.spawn().expect("nats-server is installed: see tests/run")
        };
        let mut child = spawn();
        for _ in 0..3000 {
            std::thread::sleep(Duration::from_millis(20));
            let ports = folder.join(format!("nats-server_{}.ports", child.id()));
            let ports = std::fs::read_to_string(ports).unwrap_or_default();
            let port = ports.strip_suffix("\"]}").and_then(|ports| ports.rsplit(':').next());
            if let Some(port) = port {
                return (child, port.parse().unwrap());
            }
            if child.try_wait().unwrap().is_some() {
                // A connection may have taken the port of a server that restarts.
                child = spawn();
            }
        }
        panic!("nats-server does not listen");
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(super) fn restart(&mut self) {
        self.child = Server::spawn(self.folder.path(), Some(self.port), &self.arguments).0;
    }

    pub(super) fn broker(&self) -> Broker {
        Broker {
            url: format!("nats://127.0.0.1:{}", self.port),
            queue: "referee".to_owned(),
            credentials: None,
            ca: None,
            identity: None,
        }
    }

    pub(super) async fn client(&self) -> async_nats::Client {
        async_nats::connect(self.broker().url).await.unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
