import common from './en/common';
import place from './en/place';
import work from './en/work';

const words = { ...common, ...work, ...place };
export type Words = typeof words;
export default words;
