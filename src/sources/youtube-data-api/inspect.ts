import type { Channel } from '../../domain/channel.ts';
import type { FieldFinding } from '../field-finding.ts';
import { firstAt, type JsonObject, valuesAt } from '../youtube/json.ts';
import { CHANNEL_PATHS, findItem, HIDDEN_SUBSCRIBERS } from './parse.ts';

type Field = keyof typeof CHANNEL_PATHS;

const FIELDS = Object.keys(CHANNEL_PATHS) as Field[];

/** What a channel may do without. */
const OPTIONAL_FIELDS: readonly Field[] = ['customUrl', 'country', 'links', 'banner', 'avatar'];

/** Compares a channels.list answer with the record that was read from it. */
export function inspectChannelList(body: JsonObject, channel: Channel): FieldFinding[] {
  const item = findItem(valuesAt(body, 'items.*'), channel.channelId);
  return FIELDS.map((field) => inspectField(field, item, channel));
}

function inspectField(field: Field, item: unknown, channel: Channel): FieldFinding {
  const path = CHANNEL_PATHS[field].find((each) => firstAt(item, each) !== undefined) ?? null;
  const picture = field === 'banner' || field === 'avatar' ? channel[field]?.key : undefined;
  const value = picture ?? channel[field];
  if (value !== null) return { field, state: 'fine', value, path, note: null };
  const nothing = { field, value, path };
  if (field === 'links') return { ...nothing, state: 'absent', note: 'no part of this API has them' };
  if (field === 'subscriberCount' && firstAt(item, HIDDEN_SUBSCRIBERS) === true) {
    return { ...nothing, state: 'absent', note: 'hidden by the channel' };
  }
  if (path !== null) return { ...nothing, state: 'unreadable', note: JSON.stringify(firstAt(item, path)).slice(0, 80) };
  return { ...nothing, state: OPTIONAL_FIELDS.includes(field) ? 'absent' : 'missing', note: null };
}
