/**
 * Which folder of `src` may import which. The registry of sources may import more: it is listed separately. Tests may import everything.
 */
const ROOMS = {
  domain: [],
  lib: ['domain'],
  config: ['domain', 'lib'],
  sources: ['domain', 'lib'],
  cache: ['domain', 'lib'],
  'rate-limit': ['domain', 'lib'],
  channels: ['domain', 'lib', 'sources', 'cache'],
  images: ['domain', 'lib', 'sources', 'cache', 'channels'],
  http: ['domain', 'lib', 'rate-limit', 'channels', 'images'],
  private: ['domain', 'lib', 'cache', 'channels', 'images', 'http'],
  app: ['domain', 'lib', 'config', 'sources', 'images', 'cache', 'rate-limit', 'channels', 'http', 'private'],
  cli: ['domain', 'lib', 'config', 'sources', 'images', 'cache', 'channels', 'app'],
};
/** Builds the sources that the settings select. */
const REGISTRY = '^src/sources/registry\\.ts$';
const TESTS = '\\.test\\.ts$';

/** Rooms within a room have rules of their own. */
const roomsIn = (room) =>
  Object.keys(ROOMS).flatMap((other) => (other.startsWith(`${room}/`) ? [`^src/${other}/`] : []));

const directions = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room}-imports`,
  comment: `${room} may import ${allowed.join(', ') || 'nothing of the project'}.`,
  severity: 'error',
  from: { path: `^src/${room}/`, pathNot: [TESTS, REGISTRY, ...roomsIn(room)] },
  to: { path: '^src/', pathNot: `^src/(?:${[room, ...allowed].join('|')})/` },
}));

export default {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'No file may import itself through others, types included.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'registry-imports',
      comment: 'The registry also reads the settings, nothing else.',
      severity: 'error',
      from: { path: REGISTRY },
      to: { path: '^src/', pathNot: '^src/(?:sources|config|domain|lib)/' },
    },
    {
      name: 'source-imports',
      comment: 'A source imports nothing of another source.',
      severity: 'error',
      from: { path: '^src/sources/([^/]+)/', pathNot: TESTS },
      to: { path: '^src/sources/[^/]+/', pathNot: '^src/sources/$1/' },
    },
    {
      name: 'lib-and-errors',
      comment: 'Of the domain, lib knows the errors only.',
      severity: 'error',
      from: { path: '^src/lib/', pathNot: TESTS },
      to: { path: '^src/domain/', pathNot: '^src/domain/errors\\.ts$' },
    },
    {
      name: 'web-imports',
      comment: 'The pages import the domain and types of the private listener; nothing of src imports the pages.',
      severity: 'error',
      from: { path: '^web/', pathNot: TESTS },
      to: { path: '^src/', pathNot: '^src/(?:domain/|private/state\\.ts$)' },
    },
    { name: 'src-and-web', severity: 'error', from: { path: '^src/' }, to: { path: '^web/' } },
    ...directions,
  ],
  options: { tsPreCompilationDeps: true, doNotFollow: { path: 'node_modules' } },
};
