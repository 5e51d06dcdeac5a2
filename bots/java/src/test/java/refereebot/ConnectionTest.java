package refereebot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same bot plays over TCP, and over TLS with a referee that can show who it is. */
class ConnectionTest {
    private static final InetAddress HERE = InetAddress.getLoopbackAddress();
    private static final char[] PASSWORD = "secret".toCharArray();

    @TempDir
    Path folder;

    /** Lets a bot connect, asks it for its token, and returns what it says: null if it hangs up. */
    private static JsonObject talk(ServerSocket server, String... args) throws Exception {
        try (server) {
            CompletableFuture<JsonObject> said = CompletableFuture.supplyAsync(() -> ask(server));
            String[] connect = {"--connect", "localhost:" + server.getLocalPort()};
            Referee.run(
                    turn -> Reply.move(turn.legal().get(0)),
                    new Hello("first"),
                    Stream.of(connect, args).flatMap(Stream::of).toArray(String[]::new));
            return said.get();
        }
    }

    private static JsonObject ask(ServerSocket server) {
        try (Socket socket = server.accept()) {
            String hello = "{\"type\":\"hello\",\"protocol\":1,\"server\":\"fake\",\"auth\":\"token\"}\n";
            socket.getOutputStream().write(hello.getBytes(StandardCharsets.UTF_8));
            String line = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
            return line == null ? null : JsonParser.parseString(line).getAsJsonObject();
        } catch (IOException error) {
            return null;
        }
    }

    private static ServerSocket plain() throws IOException {
        return new ServerSocket(0, 1, HERE);
    }

    /** A server with a certificate for a host, which is in the folder as ca.pem. */
    private ServerSocket secure(String host) throws Exception {
        Path store = folder.resolve(host + ".p12");
        keytool(store, "-genkeypair", "-alias", "key", "-keyalg", "EC", "-dname", "CN=" + host, "-ext", "san=dns:" + host);
        keytool(store, "-exportcert", "-alias", "key", "-rfc", "-file", folder.resolve("ca.pem").toString());
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream stream = Files.newInputStream(store)) {
            keys.load(stream, PASSWORD);
        }
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(factory.getKeyManagers(), null, null);
        return context.getServerSocketFactory().createServerSocket(0, 1, HERE);
    }

    private void keytool(Path store, String... args) throws Exception {
        String[] common = {System.getProperty("java.home") + "/bin/keytool", "-storepass", "secret", "-keystore", "" + store};
        String[] command = Stream.of(common, args).flatMap(Stream::of).toArray(String[]::new);
        assertEquals(0, new ProcessBuilder(command).redirectErrorStream(true).start().waitFor());
    }

    @Test
    void theTokenIsReadFromAFile() throws Exception {
        Path token = Files.writeString(folder.resolve("token"), "from a file\n");
        assertEquals("from a file", talk(plain(), "--token-file", token.toString()).get("token").getAsString());
        assertFalse(talk(plain()).has("token"));
    }

    @Test
    void aRefereeWithACertificateOfTheNamedAuthorityIsTrusted() throws Exception {
        ServerSocket server = secure("localhost");
        JsonObject said = talk(server, "--tls", "--ca", folder.resolve("ca.pem").toString());
        assertEquals("first", said.get("name").getAsString());
    }

    @Test
    void aRefereeThatCannotShowWhoItIsIsToldNothing() throws Exception {
        assertThrows(SSLException.class, () -> talk(secure("localhost"), "--tls"));
        ServerSocket other = secure("elsewhere.example");
        String ca = folder.resolve("ca.pem").toString();
        SSLException error = assertThrows(SSLException.class, () -> talk(other, "--tls", "--ca", ca));
        assertTrue(error.getMessage().contains("localhost"), error.getMessage());
    }

    @Test
    void anAddressWithoutAPortIsRefusedWithAReason() {
        Exception error =
                assertThrows(IllegalArgumentException.class, () -> Options.read("--connect", "localhost"));
        assertEquals("'localhost' is not HOST:PORT", error.getMessage());
    }

    @Test
    void anAddressMayBeOfIpv6() throws IOException {
        Options options = Options.read("--seed", "1", "--connect=[::1]:7000");
        assertEquals("::1", options.host());
        assertEquals(7000, options.port());
        assertNull(options.name());
    }

    @Test
    void aRefereeThatIsNotThereIsAnError() throws IOException {
        ServerSocket server = plain();
        server.close();
        assertThrows(IOException.class, () -> Connection.open(Options.read("--connect", "localhost:" + server.getLocalPort())));
    }
}
