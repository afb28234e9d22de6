import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { clock, Page, Section } from '../components/basics';
import { Pick } from '../components/Pick';
import { offsetOf, shortTime, zoneName } from '../lib/format';
import { t, type Key } from '../lib/i18n';
import { density, lang, shortcuts, theme, user, zone } from '../lib/settings';
import { findZones, knownZones } from '../lib/zones';

const MOST_ZONES = 60;

function Choice<T extends string>({ title, name, value, options, note }: { title: string; name: string; value: Signal<T>; options: readonly { id: T; text: string; lang?: string }[]; note?: ComponentChildren }) {
  return (
    <fieldset class="setting">
      <legend>{title}</legend>
      <div class="radios">
        {options.map(option => (
          <label class="radio" lang={option.lang}>
            <input type="radio" name={name} value={option.id} checked={value.value === option.id} onChange={() => (value.value = option.id)} />
            {option.text}
          </label>
        ))}
      </div>
      {note && <p class="muted">{note}</p>}
    </fieldset>
  );
}

function ZonePicker() {
  const local = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = useMemo(() => knownZones(local, t('settings.zone_local')), [lang.value]);
  const [typed, setTyped] = useState('');
  const [open, setOpen] = useState(false);
  const now = useMemo(() => new Date(), [open]);
  const current = zones.find(one => one.id === zone.value)?.text ?? zone.value;
  const choices = useMemo(() => (open ? findZones(zones, typed, MOST_ZONES).map(one => ({ ...one, hint: offsetOf(one.id, now) })) : []), [open, typed, zones]);
  const leave = () => {
    setOpen(false);
    setTyped('');
  };
  return (
    <div class="setting">
      <h3>{t('settings.zone')}</h3>
      <Pick
        label={t('settings.zone')} placeholder={t('settings.zone_search')} typed={open ? typed : current} choices={choices} open={open} current={zone.value}
        onType={text => { setOpen(true); setTyped(text); }}
        onPick={one => { zone.value = one.id; leave(); }}
        onFocus={() => setOpen(true)} onLeave={leave}
      />
      <p class="muted">{t('settings.now')} <span class="now">{shortTime(clock.value)} {zoneName()}</span></p>
    </div>
  );
}

const OPTIONS = {
  theme: ['system', 'light', 'dark'],
  density: [{ id: 'compact', text: 'settings.compact' }, { id: 'cosy', text: 'settings.cosy' }],
  shortcuts: [{ id: 'on', text: 'settings.on' }, { id: 'off', text: 'settings.off' }],
} as const;
const said = <T extends string>(list: readonly { id: T; text: Key }[]) => list.map(one => ({ id: one.id, text: t(one.text) }));

export default function Settings() {
  return (
    <Page title={t('nav.settings')}>
      <p class="muted">{t('settings.kept')}</p>
      <Section title={t('settings.reading')}>
        <div class="settings">
          <Choice title={t('settings.lang')} name="lang" value={lang} options={[{ id: 'en', text: 'English', lang: 'en' }, { id: 'zh', text: '简体中文', lang: 'zh-CN' }]} />
          <ZonePicker />
          <Choice title={t('settings.theme')} name="theme" value={theme} options={OPTIONS.theme.map(id => ({ id, text: t(`theme.${id}`) }))} />
          <Choice title={t('settings.density')} name="density" value={density} options={said(OPTIONS.density)} />
        </div>
      </Section>
      <Section title={t('settings.acting')}>
        <div class="settings">
          <label class="setting">
            <h3>{t('settings.name')}</h3>
            <input value={user.value} maxLength={100} autocomplete="name" placeholder={t('settings.name_none')} onInput={event => (user.value = event.currentTarget.value.trimStart())} />
            <p class="muted">{t('settings.name_why')}</p>
          </label>
          <Choice title={t('settings.shortcuts')} name="shortcuts" value={shortcuts} options={said(OPTIONS.shortcuts)} note={t('settings.shortcuts_why')} />
        </div>
      </Section>
    </Page>
  );
}
