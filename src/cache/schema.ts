import { ENTRY_SCHEMA } from './entry-table.ts';
import { IMAGE_SCHEMA } from './image-store.ts';

/** The tables of `cache.db`. */
export const CACHE_SCHEMA = ENTRY_SCHEMA + IMAGE_SCHEMA;
