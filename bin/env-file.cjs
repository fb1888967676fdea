'use strict';

const { lstatSync, readFileSync } = require('node:fs');
const { resolve } = require('node:path');
const { parseEnv, TextDecoder } = require('node:util');

/**
 * Reads `.env` in the working directory, in the syntax of Node's own `--env-file`, and adds its variables to the
 * environment. Non-empty variables of the environment are not changed.
 *
 * An unusable file is a `problem` and not ignored: a channel that it blocks would be served.
 */
exports.loadEnvFile = () => {
  const path = resolve('.env');
  const file = { path, isThere: true, problem: undefined, names: [], loaded: [], ignoredLines: [], cutLines: [] };
  try {
    const text = readText(path);
    if (text === undefined) return { ...file, isThere: false };
    const lines = text.split('\n').map(readLine);
    const broken = lines.find(({ problem }) => problem !== undefined);
    if (broken !== undefined) {
      return { ...file, problem: `${path} cannot be used: the value of ${broken.name} ${broken.problem}` };
    }
    const variables = new Map(lines.filter(({ name }) => name !== undefined).map(({ name, value }) => [name, value]));
    const names = [...variables.keys()];
    const loaded = names.filter((name) => (process.env[name] ?? '').trim() === '');
    for (const name of loaded) process.env[name] = variables.get(name);
    const lastLines = new Map(lines.map(({ name }, at) => [name, at]));
    const isIgnored = ({ name, isEmpty }, at) => (name === undefined ? !isEmpty : lastLines.get(name) !== at);
    return {
      ...file,
      names,
      loaded,
      ignoredLines: numbersOf(lines, isIgnored),
      cutLines: numbersOf(lines, ({ isCut }) => isCut),
    };
  } catch (error) {
    return { ...file, problem: `${path} cannot be used: ${reasonOf(error)}` };
  }
};

/** Returns the text without a byte order mark; `undefined` if there is no file. */
function readText(path) {
  const bytes = readBytes(path);
  if (bytes === undefined) return undefined;
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  // UTF-16 without a byte order mark can pass for UTF-8.
  if (text.includes('\0')) throw new TypeError('NUL');
  return text;
}

function readBytes(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    // A broken link is an error.
    if (error.code === 'ENOENT' && lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    throw error;
  }
}

function reasonOf(error) {
  if (error instanceof TypeError) return 'it is no text in UTF-8';
  if (error.code === 'EISDIR') return 'it is a directory';
  if (error.code === 'ENOENT') return 'it is a link to a file that does not exist';
  return error.message;
}

function numbersOf(lines, matches) {
  return lines.flatMap((line, at) => (matches(line, at) ? [at + 1] : []));
}

/**
 * Reads a line alone. In a whole file, Node continues the value of an unclosed quote, or of a space only, on the next line,
 * which may hold a secret.
 */
function readLine(line) {
  const [variable] = Object.entries(parseEnv(line));
  if (variable === undefined) return { isEmpty: /^\s*(?:#|$)/.test(line) };
  const [name, value] = variable;
  const given = line.slice(line.indexOf('=') + 1).trim();
  const isQuoted = /^["'`]/.test(given);
  const end = isQuoted ? given.indexOf(given[0], 1) : given.indexOf('#');
  if (isQuoted && end === -1) return { name, problem: 'has no closing quote' };
  if (value.includes('\n')) return { name, problem: 'has a line break' };
  return { name, value, isCut: isQuoted ? !/^\s*(?:#|$)/.test(given.slice(end + 1)) : isCutAt(given, end) };
}

/** True if the `#` at this place does not clearly begin a comment. */
function isCutAt(given, at) {
  return at !== -1 && !/^(?:|.*\s)#(?:\s|$)/.test(given.slice(0, at + 2));
}
