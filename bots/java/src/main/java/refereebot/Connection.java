package refereebot;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** A stream of lines to and from the referee. */
final class Connection {
    private final InputStream input;
    private final OutputStream output;
    private boolean isFirst = true;

    private Connection(InputStream input, OutputStream output) {
        this.input = new BufferedInputStream(input, 1 << 16);
        this.output = output;
    }

    static Connection open(Options options) throws IOException {
        if (options.host() == null) {
            return takeStdio();
        }
        Socket socket;
        try {
            socket = options.tls() ? openTls(options) : new Socket(options.host(), options.port());
        } catch (GeneralSecurityException error) {
            throw new IOException(error);
        }
        socket.setTcpNoDelay(true);
        socket.setKeepAlive(true);
        return new Connection(socket.getInputStream(), socket.getOutputStream());
    }

    private static SSLSocket openTls(Options options) throws IOException, GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, options.ca() == null ? null : trusting(options.ca()).getTrustManagers(), null);
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(options.host(), options.port());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS"); // the name must be that of the certificate
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    private static TrustManagerFactory trusting(Path file) throws IOException, GeneralSecurityException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (InputStream text = Files.newInputStream(file)) {
            for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(text)) {
                trusted.setCertificateEntry("ca" + trusted.size(), certificate);
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(trusted);
        return factory;
    }

    /** Takes stdout for the messages alone: what else is printed must not come between them and goes to stderr. */
    private static Connection takeStdio() {
        System.out.flush();
        System.setOut(System.err);
        return new Connection(new FileInputStream(FileDescriptor.in), new FileOutputStream(FileDescriptor.out));
    }

    /** The next line without its end; null at the end of the input. A last line without its end is dropped. */
    String read() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try {
            for (int next = input.read(); next != '\n'; next = input.read()) {
                if (next < 0) {
                    return null;
                }
                line.write(next);
            }
        } catch (SocketException | SSLException error) {
            return null;
        }
        String text = line.toString(StandardCharsets.UTF_8);
        boolean isMarked = isFirst && text.startsWith("\ufeff");
        isFirst = false;
        return isMarked ? text.substring(1) : text;
    }

    void close() {
        try {
            input.close();
            output.close();
        } catch (IOException error) {
            // It is lost.
        }
    }

    /** Writes a line in one write. False if the reader has closed the stream. */
    boolean write(String line) {
        try {
            output.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            output.flush();
            return true;
        } catch (IOException error) {
            return false;
        }
    }
}
