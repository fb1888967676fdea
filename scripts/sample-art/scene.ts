export interface GuideColours {
  /** The lines and labels. */
  readonly ink: string;
  /** The letters on the labels. */
  readonly paper: string;
}

export interface Banner {
  /** Drawn on the 2560×1440 canvas, without the guide lines. */
  readonly body: string;
  /** For a banner that shows where each device cuts it. */
  readonly guides?: GuideColours;
}

/** How one sample channel looks. */
export interface Scene {
  readonly banner?: Banner;
  /** Drawn on 800×800. */
  readonly avatar: string;
}
