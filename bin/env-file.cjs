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
    const variables = Object.entries(parseEnv(text));
    // A quote that is not closed takes the next lines, perhaps with secrets, into its value.
    const [broken] = variables.find(([, value]) => value.includes('\n')) ?? [];
    if (broken !== undefined) {
      return { ...file, problem: `${path} cannot be used: ${broken} has a line break. Is its closing quote missing?` };
    }
    const loaded = variables.filter(([name]) => (process.env[name] ?? '').trim() === '');
    for (const [name, value] of loaded) process.env[name] = value;
    return {
      ...file,
      names: variables.map(([name]) => name),
      loaded: loaded.map(([name]) => name),
      ignoredLines: ignoredLines(text),
      cutLines: cutLines(text),
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

/** The numbers of lines that are neither settings nor comments, and of lines whose variable a later line sets again. */
function ignoredLines(text) {
  const lines = text.split('\n');
  const all = JSON.stringify(parseEnv(text));
  const isIgnored = (line, at) =>
    !/^\s*(?:#|$)/.test(line) && JSON.stringify(parseEnv(lines.toSpliced(at, 1, '').join('\n'))) === all;
  return lines.flatMap((line, at) => (isIgnored(line, at) ? [at + 1] : []));
}

/** The numbers of lines with a part that is neither in the value nor clearly a comment. */
function cutLines(text) {
  return text.split('\n').flatMap((line, at) => (isCut(line) ? [at + 1] : []));
}

function isCut(line) {
  const value = /^\s*[^#=\s][^=]*=(.*)/.exec(line)?.[1].trim() ?? '';
  const end = /^["'`]/.test(value) ? value.indexOf(value[0], 1) : -1;
  if (end !== -1) return !/^\s*(?:#|$)/.test(value.slice(end + 1));
  const hash = value.indexOf('#');
  return hash !== -1 && !/^(?:|.*\s)#(?:\s|$)/.test(value.slice(0, hash + 2));
}
