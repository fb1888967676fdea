import { once } from 'node:events';
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Sends bytes as they are and reads until the other side closes, or until the first whole answer has come. */
export async function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) {
    chunks.push(chunk as Buffer);
    const answer = parse(Buffer.concat(chunks).toString('latin1'));
    if (answer !== undefined) {
      socket.destroy();
      return answer;
    }
  }
  throw new Error(`no whole answer: ${Buffer.concat(chunks).toString('latin1')}`);
}

/** Sends bytes as they are and reads everything until the other side closes. */
export async function readUntilClosed(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

/** Sends bytes as they are and reads every answer until the other side closes. */
export async function readAnswers(port: number, bytes: string): Promise<RawAnswer[]> {
  let rest = await readUntilClosed(port, bytes);
  const answers: RawAnswer[] = [];
  for (let answer = parse(rest); answer !== undefined; answer = parse(rest)) {
    answers.push(answer);
    rest = rest.slice(rest.indexOf('\r\n\r\n') + 4 + Number(answer.headers['content-length'] ?? 0));
  }
  return answers;
}

function parse(text: string): RawAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyBytes = Number(headers['content-length'] ?? 0);
  const body = text.slice(end + 4, end + 4 + bodyBytes);
  if (body.length < bodyBytes) return undefined;
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}

export interface RawConnection {
  /** Sends bytes as they are and waits for one whole answer. */
  ask(bytes: string): Promise<RawAnswer>;
  close(): void;
}

/** A connection that stays open for several requests, one after the other. */
export async function openConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return {
    async ask(bytes) {
      socket.write(bytes);
      let text = '';
      for (;;) {
        const [chunk] = await Promise.race([
          once(socket, 'data'),
          once(socket, 'close').then(() => Promise.reject(new Error(`closed after: ${text}`))),
        ]);
        text += (chunk as Buffer).toString('latin1');
        const answer = parse(text);
        if (answer !== undefined) return answer;
      }
    },
    close: () => socket.destroy(),
  };
}
