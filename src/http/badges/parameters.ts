import { BADGE_METRICS, BADGE_STYLES, DEFAULT_METRIC, DEFAULT_STYLE } from '../../domain/badges.ts';
import { choiceParameter, type Parameter, type Values } from '../request/parameters.ts';
import { findFill } from './library.ts';

/*
 * The parameters of badges: those of shields.io that have a meaning here, with the same values.
 */

/** The parameters of a badge as JSON. */
export const BADGE_QUERY = {
  metric: choiceParameter(BADGE_METRICS, 'The count that the badge shows.', 'views', DEFAULT_METRIC),
};

const MAX_LABEL_CODE_POINTS = 60;

/** XML forbids control characters and noncharacters. */
const LABEL: Parameter<string | undefined> = {
  description: 'The text on the left. Default: the metric. A blank (`%20`): no text.',
  example: 'on YouTube',
  schema: { type: 'string', minLength: 1, maxLength: MAX_LABEL_CODE_POINTS },
  expected: `a text of 1 to ${MAX_LABEL_CODE_POINTS} characters`,
  read(text) {
    const label = text.trim();
    const isPrintable = !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(label);
    return [...label].length <= MAX_LABEL_CODE_POINTS && isPrintable ? label : undefined;
  },
};

const HEX_DIGITS = /^[\da-f]+$/;

/** What the library of shields.io accepts, in any letter case and with blanks around it. */
function color(description: string, example: string): Parameter<string | undefined> {
  return {
    description,
    example,
    schema: { type: 'string', minLength: 1 },
    expected: 'a color of shields.io or CSS, such as blue, 1f2937 or rgb(31,41,55)',
    read(text) {
      const name = text.trim().toLowerCase();
      if (findFill(name) === undefined) return undefined;
      return HEX_DIGITS.test(name) ? `#${name}` : name;
    },
  };
}

const LOGO: Parameter<'youtube' | 'none' | undefined> = {
  description: '`youtube`, in any letter case. Any other value: no logo.',
  example: 'youtube',
  schema: { type: 'string' },
  expected: 'youtube',
  read: (text) => (text.trim().toLowerCase() === 'youtube' ? 'youtube' : 'none'),
};

const APPEARANCE = {
  label: LABEL,
  color: color(
    'The color of the right side: a name of shields.io, a color of CSS, or `RRGGBB` or `RGB` (hex, with or without `#`, which ' +
      'is `%23` in a URL). Default: `red`.',
    'blue',
  ),
  labelColor: color('The color of the left side. Default: `grey`.', '1f2937'),
  logo: LOGO,
  logoColor: color('The color of the logo. Default: red in the style `social`, white in the others.', 'white'),
};

/** The parameters of a badge as an image. */
export const BADGE_IMAGE_QUERY = {
  ...BADGE_QUERY,
  style: choiceParameter(BADGE_STYLES, 'The design.', 'flat-square', DEFAULT_STYLE),
  ...APPEARANCE,
};

/** The parameters at the paths of the badges that shields.io retired. */
export const RETIRED_BADGE_QUERY = {
  style: choiceParameter(BADGE_STYLES, 'The design.', 'flat-square', 'social'),
  ...APPEARANCE,
};

/** The parameters at the same paths with `.json`. */
export const RETIRED_JSON_QUERY = { label: APPEARANCE.label, color: APPEARANCE.color };

export type BadgeAppearance = Values<typeof RETIRED_BADGE_QUERY>;
