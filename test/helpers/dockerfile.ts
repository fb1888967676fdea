export type Stage = ReturnType<typeof parseStage>;

/** The stages of a Dockerfile, as far as deploy/Dockerfile goes. */
export function parseDockerfile(text: string): Stage[] {
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll('\\\n', ' ');
  return lines
    .split(/^(?=FROM )/m)
    .filter((stage) => stage.startsWith('FROM '))
    .map(parseStage);
}

function parseStage(text: string) {
  const argumentsOf = (instruction: string) =>
    [...text.matchAll(new RegExp(`^${instruction} (.*)`, 'gm'))].map(([, given = '']) => given.trim());
  const listOf = (given = '[]') => JSON.parse(given) as string[];
  return {
    image: argumentsOf('FROM')[0]?.split(' ')[0] ?? '',
    /** Files of the project, with the path they are copied to. */
    copies: argumentsOf('COPY')
      .filter((given) => !given.startsWith('--from='))
      .map((given) => given.split(/\s+/))
      .map((paths) => ({ sources: paths.slice(0, -1), target: paths.at(-1) as string })),
    commands: argumentsOf('RUN'),
    environment: Object.fromEntries(
      [
        ...argumentsOf('ENV')
          .join(' ')
          .matchAll(/(\w+)=(\S+)/g),
      ].map(([, name, value]) => [name, value]),
    ),
    user: argumentsOf('USER')[0],
    ports: argumentsOf('EXPOSE'),
    volumes: argumentsOf('VOLUME'),
    command: listOf(argumentsOf('CMD')[0]),
    healthCheck: listOf(argumentsOf('HEALTHCHECK')[0]?.replace(/^.*?CMD /, '')),
  };
}
