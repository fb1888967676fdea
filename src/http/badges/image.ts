import { findFill, makeBadge } from './library.ts';
import type { BadgeAppearance } from './parameters.ts';

export interface Badge {
  readonly label: string;
  readonly message: string;
  /** A color name of shields.io. */
  readonly color: string;
}

/** @returns an SVG */
export function drawBadge(badge: Badge, appearance: BadgeAppearance): string {
  const { style, label = badge.label, color = badge.color, labelColor, logo, logoColor } = appearance;
  return makeBadge({
    style,
    label,
    message: badge.message,
    color,
    ...(labelColor !== undefined && { labelColor }),
    ...(logo === 'youtube' && { logoBase64: logoOf(logoColor ?? (style === 'social' ? LOGO_RED : LOGO_WHITE)) }),
  });
}

/** The logo's own color, and the one that shields.io uses for it on dark labels. */
const LOGO_RED = '#f00';
const LOGO_WHITE = 'whitesmoke';
/** The YouTube icon of simple-icons 16.37.0 (simpleicons.org, CC0 1.0). */
const LOGO_PATH =
  'M23.498 6.186a3.016 3.016 0 0 0-2.122-2.136C19.505 3.545 12 3.545 12 3.545s-7.505 0-9.377.505A3.017 3.017 0 0 0 .502 ' +
  '6.186C0 8.07 0 12 0 12s0 3.93.502 5.814a3.016 3.016 0 0 0 2.122 2.136c1.871.505 9.376.505 9.376.505s7.505 0 ' +
  '9.377-.505a3.015 3.015 0 0 0 2.122-2.136C24 15.93 24 12 24 12s0-3.93-.502-5.814zM9.545 15.568V8.432L15.818 12l-6.273 ' +
  '3.568z';

/** @param color one that the library knows, never other text of the request */
function logoOf(color: string): string {
  const fill = findFill(color);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="${fill}"><path d="${LOGO_PATH}"/></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}
