import { VARIANT_PRESETS, type Variant } from '../../src/domain/variants.ts';
import type { GuideColours } from './scene.ts';
import { CANVAS, CENTRE, path, rectangle, round, text } from './svg.ts';

const STROKE_PX = 3;
/** The distance of frames from the edge of their area, so that a crop that is off by a pixel shows its complete frame. */
const INSET_PX = 4;
const CORNER_PX = 34;
const LABEL_PX = 20;

const FRAMES: readonly Variant[] = ['tv', 'desktop', 'tablet', 'mobile'];

/** Frames and labels of the area that each device shows, which make crops distinguishable. */
export function safeAreas({ ink, paper }: GuideColours): string {
  return FRAMES.map((variant) => frameOf(variant, ink, paper)).join('');
}

function frameOf(variant: Variant, ink: string, paper: string): string {
  const { width, height } = VARIANT_PRESETS[variant].visible;
  const left = (CANVAS.width - width) / 2 + INSET_PX;
  const top = (CANVAS.height - height) / 2 + INSET_PX;
  const right = CANVAS.width - left;
  const bottom = CANVAS.height - top;
  const outline = rectangle(
    left,
    top,
    right - left,
    bottom - top,
    `fill="none" stroke="${ink}" stroke-width="${STROKE_PX - 1}" stroke-opacity=".55" stroke-dasharray="2 8"`,
  );
  const corners = [
    `M${left} ${top + CORNER_PX}V${top}H${left + CORNER_PX}`,
    `M${right - CORNER_PX} ${top}H${right}V${top + CORNER_PX}`,
    `M${left} ${bottom - CORNER_PX}V${bottom}H${left + CORNER_PX}`,
    `M${right - CORNER_PX} ${bottom}H${right}V${bottom - CORNER_PX}`,
  ].join('');
  const marks = path(corners, `fill="none" stroke="${ink}" stroke-width="${STROKE_PX + 1}"`);
  const label = variant === 'tv' ? 'TV' : variant[0]?.toUpperCase() + variant.slice(1);
  return (
    outline + marks + tag(`${label} ${width} × ${height}`, left, right, ink, paper, variant === 'tv' ? top : undefined)
  );
}

/** The name: level in the corner of the TV area, upright inside both sides of the strips. */
function tag(name: string, left: number, right: number, ink: string, paper: string, top: number | undefined): string {
  const width = round(name.length * LABEL_PX * 0.6 + 36);
  const height = 42;
  const pill =
    rectangle(-width / 2, -height / 2, width, height, `rx="${height / 2}" fill="${ink}"`) +
    text({ x: 0, y: 7 }, name, { size: LABEL_PX, fill: paper, weight: 700, spacing: 0.6 });
  if (top !== undefined) {
    return `<g transform="translate(${left + 30 + width / 2} ${top + 49})">${pill}</g>`;
  }
  const distance = 12 + height / 2;
  return (
    `<g transform="translate(${left + distance} ${CENTRE.y}) rotate(-90)">${pill}</g>` +
    `<g transform="translate(${right - distance} ${CENTRE.y}) rotate(90)">${pill}</g>`
  );
}
