import type { TargetedEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface ChoiceProps {
  readonly label: string;
  readonly choices: readonly { readonly value: string; readonly label: string; readonly isDisabled?: boolean }[];
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

/** A few choices side by side. */
export function Segmented({ label, choices, value, onChoose }: ChoiceProps) {
  return (
    <fieldset class="segmented">
      <legend>{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} class="button">
          <input
            type="radio"
            name={label}
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

interface FieldProps {
  readonly label: string;
  readonly value: string;
  /** The greatest number. Without it, any text is allowed that the pattern allows. */
  readonly max?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly placeholder?: string;
  readonly title?: string;
  /** A valid value was entered, with Enter or by leaving the field. */
  readonly onEnter: (value: string) => void;
}

/** A text or a number. */
export function Field({ label, value, max, onEnter, ...attributes }: FieldProps) {
  const ref = useRef<HTMLInputElement>(null);
  // What is being typed stays until the value changes, however often the page is drawn meanwhile.
  useEffect(() => {
    if (ref.current !== null) ref.current.value = value;
  }, [value]);
  const type = max === undefined ? {} : { type: 'number' as const, min: 1, max };
  function enter({ currentTarget: input }: TargetedEvent<HTMLInputElement>) {
    if (!input.reportValidity()) return;
    // Number fields accept 1e3 too, which is not a number in a URL.
    onEnter(input.type === 'number' && input.value !== '' ? String(input.valueAsNumber) : input.value.trim());
  }
  return (
    <label class="field">
      {label}
      <input
        ref={ref}
        defaultValue={value}
        {...type}
        {...attributes}
        autocomplete="off"
        spellcheck={false}
        onChange={enter}
      />
    </label>
  );
}
