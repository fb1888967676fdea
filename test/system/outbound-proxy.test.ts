import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { startConnectProxy } from '../helpers/connect-proxy.ts';
import { KEY, respondAsDataApi } from '../helpers/data-api.ts';
import { fetchNewImage } from '../helpers/image.ts';
import { isInstalled } from '../helpers/installed.ts';
import { runCommand, startServiceForTest } from '../helpers/process.ts';
import { createTemporaryDirectory } from '../helpers/temporary-directory.ts';
import { startReplayForTest } from '../helpers/youtube-service.ts';

const LIGHTHOUSE = 'UCreplayLighthouse000001';
const HOSTS = ['www.youtube.com', 'yt3.ggpht.com', 'yt3.googleusercontent.com', 'www.googleapis.com'];

/** A certificate of these hosts, and its key. */
function createCertificate(directory: string) {
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const names = HOSTS.map((host) => `DNS:${host}`).join(',');
  const subject = ['-subj', '/CN=test', '-addext', `subjectAltName=${names}`];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(cert), path: cert };
}

/** YouTube behind TLS, and a proxy whose tunnels lead to it. */
async function startYoutubeBehindProxy() {
  const directory = await createTemporaryDirectory();
  const { key, cert, path } = createCertificate(directory);
  const dataApi = respondAsDataApi([{ id: LIGHTHOUSE, snippet: { title: 'Bell Rock Light' } }]);
  const replay = await startReplayForTest({ dataApi });
  const tls = createServer({ key, cert }, (socket) => {
    const upstream = connect(Number(new URL(replay.origin).port), '127.0.0.1').on('error', () => socket.destroy());
    socket
      .on('error', () => upstream.destroy())
      .pipe(upstream)
      .pipe(socket);
  });
  onTestFinished(() => void tls.close());
  await once(tls.listen(0, '127.0.0.1'), 'listening');
  const proxy = await startConnectProxy((socket) => {
    const tunnel = connect((tls.address() as AddressInfo).port, '127.0.0.1', () => {
      tunnel.pipe(socket);
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    tunnel.on('error', () => socket.destroy());
    socket.pipe(tunnel);
  });
  const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NODE_EXTRA_CA_CERTS: path };
  return { proxy, env, directory };
}

test.skipIf(!isInstalled('openssl', 'a proxy of outgoing calls'))(
  'every call to YouTube, its image hosts and its Data API goes through the proxy, also those of the commands',
  async () => {
    const { proxy, env, directory } = await startYoutubeBehindProxy();
    const { base } = await startServiceForTest({ directory, env: { ...env, SOURCES: 'youtube' } });
    for (const path of [`/api/channel/${LIGHTHOUSE}`, '/api/search?q=light']) {
      expect([path, (await fetch(base + path)).status]).toEqual([path, 200]);
    }
    await fetchNewImage(`${base}/@BellRockLight/avatar.png`);
    expect(proxy.targets).toContain('www.youtube.com:443');
    expect(proxy.targets.some((target) => /^yt3\.(?:ggpht|googleusercontent)\.com:443$/.test(target))).toBe(true);

    const doctor = await runCommand(['doctor', '@BellRockLight'], { directory, env });
    expect(doctor.stdout).toContain('Every field is found.');
    const added = await runCommand(['add', LIGHTHOUSE], {
      directory,
      env: { ...env, SOURCES: 'youtube-data-api', YOUTUBE_API_KEY: KEY, DATA_DIR: join(directory, 'other') },
    });
    expect(added.stdout + added.stderr).toContain('Bell Rock Light');
    expect(proxy.targets).toContain('www.googleapis.com:443');
  },
);
