import { CENTRE, text } from './svg.ts';

interface Title {
  readonly name: string;
  readonly tagline: string;
  readonly family: string;
  readonly weight: number;
  readonly size: number;
  readonly spacing?: number;
  readonly fill: string;
  readonly taglineFill: string;
  /** How far the name's baseline is below the centre. */
  readonly drop?: number;
  /** From that baseline to the tagline's. */
  readonly gap?: number;
}

/** Name and tagline, inside what every device shows. */
export function title({
  name,
  tagline,
  family,
  weight,
  size,
  spacing = 0,
  fill,
  taglineFill,
  drop = 30,
  gap = 84,
}: Title): string {
  return (
    text({ x: CENTRE.x, y: CENTRE.y + drop }, name, { size, fill, family, weight, spacing }) +
    text({ x: CENTRE.x, y: CENTRE.y + drop + gap }, tagline, {
      size: 32,
      fill: taglineFill,
      weight: 500,
      spacing: 1.5,
    })
  );
}
