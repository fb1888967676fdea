interface SegmentedProps {
  readonly legend: string;
  readonly name: string;
  /** The first one is chosen if the value is empty. */
  readonly choices: readonly { readonly value: string; readonly label: string; readonly isDisabled?: boolean }[];
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

/** A few choices side by side. */
export function Segmented({ legend, name, choices, value, onChoose }: SegmentedProps) {
  return (
    <fieldset class="segmented">
      <legend>{legend}</legend>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            disabled={choice.isDisabled === true}
            onChange={() => onChoose(choice.value)}
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  );
}
