import { effect } from '@preact/signals';
import { render } from 'preact';
import { App, loadPage } from './app';
import { loadWords } from './lib/i18n';
import { listenToKeys } from './lib/keys';
import { lang } from './lib/settings';
import { startStream } from './lib/stream';
import { followLinks } from './lib/url';
import './styles/index.css';

followLinks();
listenToKeys();
const page = loadPage();

// First the page and its words, then what keeps it alive.
effect(() => {
  void lang.value;
  void loadWords();
});
void Promise.allSettled([loadWords(), page]).then(() => {
  render(<App />, document.getElementById('app')!);
  startStream();
});
