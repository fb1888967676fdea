interface Inks {
  /** The lines and tags. */
  readonly ink: string;
  /** The letters on the tags. */
  readonly paper: string;
}

export interface GuideColours {
  /** On the strip across the middle. */
  readonly strip: Inks;
  /** Around the whole picture, where it needs others. */
  readonly whole?: Inks;
}

export interface Banner {
  /** Drawn on the 2560×1440 canvas, without the guide lines. */
  readonly body: string;
  readonly guides: GuideColours;
}

/** How one sample channel looks. */
export interface Scene {
  readonly banner?: Banner;
  /** Drawn on 800×800. */
  readonly avatar: string;
}
