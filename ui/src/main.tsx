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
startStream();
void loadPage();

const root = document.getElementById('app')!;
let shown = false;
effect(() => {
  void lang.value;
  void loadWords().then(() => {
    if (!shown) render(<App />, root);
    shown = true;
  });
});
