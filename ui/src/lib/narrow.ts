// Whether the screen is small: for what a style sheet cannot change, like how many columns a cell spans.
import { signal } from '@preact/signals';

const asked = window.matchMedia('(max-width: 1000px)');
export const isNarrow = signal(asked.matches);
asked.addEventListener('change', () => (isNarrow.value = asked.matches));
