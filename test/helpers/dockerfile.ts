/** A stage of a Dockerfile, as far as deploy/Dockerfile goes. */
export type Stage = ReturnType<typeof parseStage>;

export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const starts = lines.flatMap((line, at) => (line.startsWith('FROM ') ? [at] : []));
  return starts.map((start, at) => parseStage(lines.slice(start, starts[at + 1])));
}

function parseStage(lines: readonly string[]) {
  const argumentsOf = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.slice(instruction.length + 1).trim());
  return {
    image: argumentsOf('FROM')[0]?.split(' ')[0] ?? '',
    /** Files of the project, with the path they are copied to. */
    copies: argumentsOf('COPY')
      .filter((given) => !given.startsWith('--from='))
      .map((given) => {
        const paths = given.split(/\s+/);
        return { sources: paths.slice(0, -1), target: paths.at(-1) as string };
      }),
    commands: argumentsOf('RUN'),
    environment: Object.fromEntries(
      argumentsOf('ENV').flatMap((given) =>
        [...given.matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
      ),
    ),
    user: argumentsOf('USER')[0],
    ports: argumentsOf('EXPOSE'),
    volumes: argumentsOf('VOLUME'),
    command: listOf(argumentsOf('CMD')[0]),
    healthCheck: listOf(argumentsOf('HEALTHCHECK')[0]?.replace(/^.*?CMD /, '')),
  };
}

function listOf(json: string | undefined): string[] {
  return json === undefined ? [] : (JSON.parse(json) as string[]);
}
