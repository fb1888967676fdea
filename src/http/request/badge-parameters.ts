import { BADGE_METRICS, BADGE_STYLES, DEFAULT_METRIC, DEFAULT_STYLE } from '../../domain/badges.ts';
import { choiceParameter, type Parameter, type Values } from './parameters.ts';

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
  isRequired: false,
  read(text) {
    const label = text.trim();
    const isPrintable = !/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/u.test(label);
    return [...label].length <= MAX_LABEL_CODE_POINTS && isPrintable ? label : undefined;
  },
};

/** The names of shields.io: badge-maker 6.0.0, lib/color.js. The test compares them with what it draws. */
const SHIELDS_COLORS: Readonly<Record<string, string>> = {
  brightgreen: '#4b0',
  green: '#67ac09',
  yellow: '#d8b800',
  yellowgreen: '#95991a',
  orange: '#ea7233',
  red: '#dd4343',
  blue: '#007ec6',
  grey: '#555',
  gray: '#555',
  lightgrey: '#939393',
  lightgray: '#939393',
  critical: '#dd4343',
  important: '#ea7233',
  success: '#4b0',
  informational: '#007ec6',
  inactive: '#939393',
};

/** CSS Color Module Level 4, section 6.1. */
const CSS_NAMES = `
  aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood
  cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod
  darkgray darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon
  darkseagreen darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray
  dimgrey dodgerblue firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green
  greenyellow grey honeydew hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon
  lightblue lightcoral lightcyan lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon
  lightseagreen lightskyblue lightslategray lightslategrey lightsteelblue lightyellow lime limegreen linen
  magenta maroon mediumaquamarine mediumblue mediumorchid mediumpurple mediumseagreen mediumslateblue
  mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream mistyrose moccasin navajowhite navy
  oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen paleturquoise palevioletred papayawhip
  peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown
  seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen steelblue tan teal
  thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen
`;

const COLORS: ReadonlyMap<string, string> = new Map([
  ...CSS_NAMES.trim()
    .split(/\s+/)
    .map((name) => [name, name] as const),
  ...Object.entries(SHIELDS_COLORS),
]);
/** For the test. */
export const COLOR_NAMES: readonly string[] = [...COLORS.keys()];

const HEX_COLOR = /^#?((?:[\da-f]{3}){1,2})$/i;

/** A name or hex digits in any letter case, read as CSS writes the color. */
function color(description: string, example: string): Parameter<string | undefined> {
  return {
    description,
    example,
    schema: { type: 'string', pattern: '^(?:#?(?:[0-9A-Fa-f]{3}){1,2}|[A-Za-z]{3,20})$' },
    expected: 'a color name, RRGGBB, RGB',
    isRequired: false,
    read(text) {
      const [, digits] = HEX_COLOR.exec(text) ?? [];
      return digits === undefined ? COLORS.get(text.toLowerCase()) : `#${digits.toLowerCase()}`;
    },
  };
}

const LOGO: Parameter<'youtube' | 'none' | undefined> = {
  description: '`youtube`, in any letter case. Any other value: no logo.',
  example: 'youtube',
  schema: { type: 'string' },
  expected: 'youtube',
  isRequired: false,
  read: (text) => (text.trim().toLowerCase() === 'youtube' ? 'youtube' : 'none'),
};

const APPEARANCE = {
  label: LABEL,
  color: color(
    'The color of the right side: a name of shields.io or CSS, or `RRGGBB` or `RGB` (hex, with or without `#`, which is ' +
      '`%23` in a URL). Default: `red`.',
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

/** At the paths of the badges that shields.io retired. */
export const RETIRED_BADGE_QUERY = {
  style: choiceParameter(BADGE_STYLES, 'The design.', 'flat-square', 'social'),
  ...APPEARANCE,
};

export type BadgeAppearance = Values<typeof RETIRED_BADGE_QUERY>;
