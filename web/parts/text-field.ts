import { useEffect, useRef } from 'preact/hooks';

/** The attributes of an input that keeps what is being typed until its value changes, however often the page is drawn meanwhile. */
export function useTextField(value: string) {
  const ref = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (ref.current !== null) ref.current.value = value;
  }, [value]);
  return { ref, defaultValue: value };
}
