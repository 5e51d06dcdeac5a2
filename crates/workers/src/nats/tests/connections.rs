//! Credentials and certificates of connections.

use super::*;

use referee_game::Chain;

#[test]
fn credentials_come_from_a_file_of_the_user() {
    use std::os::unix::fs::PermissionsExt;
    on_one_thread(async {
        let server = Server::start(&["--user", "cup", "--pass", "secret"]);
        let file = server.folder.path().join("credentials");
        let connect = async |text: &str, mode: u32| {
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let broker = Broker { credentials: Some(file.clone()), ..server.broker() };
            broker.connect("test", "_INBOX").await.map(drop).map_err(|error| Chain(&error).to_string())
        };
        assert_eq!(connect("cup:secret\n", 0o600).await, Ok(()));
        let error = connect("cup:wrong", 0o600).await.unwrap_err();
        assert!(error.contains("authorization violation") && error.contains(&server.broker().url), "{error}");
        let error = connect("cup:secret", 0o644).await.unwrap_err();
        assert!(error.contains("chmod 600"), "{error}");
        let error = connect("two words", 0o600).await.unwrap_err();
        assert!(error.contains("expected NATS credentials"), "{error}");
        let error = Chain(&server.broker().connect("test", "_INBOX").await.unwrap_err()).to_string();
        assert!(error.contains("authorization violation"), "{error}");
    });
    on_one_thread(async {
        let (url, queue) = ("nats://127.0.0.1:1".to_owned(), "q".to_owned());
        let nowhere = Broker { url, queue, credentials: None, ca: None, identity: None };
        let error = Chain(&nowhere.connect("test", "_INBOX").await.unwrap_err()).to_string();
        assert!(error.starts_with("nats://127.0.0.1:1: "), "{error}");
    });
}

#[test]
fn a_connection_with_tls_trusts_the_given_certificates_only() {
    on_one_thread(async {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (cert, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        std::fs::write(&cert, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        let server = Server::start(&["--tls", "--tlscert", &path(&cert), "--tlskey", &path(&key)]);
        let url = format!("tls://localhost:{}", server.port);
        let trusting = Broker { url: url.clone(), ca: Some(cert.clone()), ..server.broker() };
        trusting.connect("test", "_INBOX").await.unwrap();
        let error = Chain(&Broker { url, ..server.broker() }.connect("test", "_INBOX").await.unwrap_err())
            .to_string();
        assert!(error.to_lowercase().contains("certificate"), "{error}");
        // A server that verifies its clients.
        let (chain, private) = (path(&cert), path(&key));
        let verify = ["--tlsverify", "--tlscert", &chain, "--tlskey", &private, "--tlscacert", &chain];
        let server = Server::start(&verify);
        let url = format!("tls://localhost:{}", server.port);
        let unknown = Broker { url, ca: Some(cert.clone()), ..server.broker() };
        assert!(unknown.connect("test", "_INBOX").await.is_err());
        Broker { identity: Some((cert, key)), ..unknown }.connect("test", "_INBOX").await.unwrap();
    });
}
