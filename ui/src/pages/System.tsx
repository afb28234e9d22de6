import type { ComponentType } from 'preact';
import { Page, Tabs } from '../components/basics';
import { t } from '../lib/i18n';
import { param, setParams } from '../lib/url';
import { Audit } from './system/Audit';
import { BulkJobs } from './system/BulkJobs';
import { Config } from './system/Config';
import { Doctor } from './system/Doctor';
import { Health } from './system/Health';

type Tab = 'health' | 'doctor' | 'config' | 'audit' | 'bulk';
const TABS: Readonly<Record<Tab, ComponentType>> = { health: Health, doctor: Doctor, config: Config, audit: Audit, bulk: BulkJobs };

export default function System() {
  const asked = param('tab') as Tab;
  const tab = asked in TABS ? asked : 'health';
  const Shown = TABS[tab];
  const tabs = [
    { id: 'health', text: t('system.health') },
    { id: 'doctor', text: t('system.doctor') },
    { id: 'config', text: t('system.config') },
    { id: 'audit', text: t('system.audit') },
    { id: 'bulk', text: t('system.bulk') },
  ] as const;
  return (
    <Page title={t('nav.system')}>
      <Tabs tabs={tabs} current={tab} label={t('nav.system')} onChange={id => setParams({ tab: id === 'health' ? null : id, who: null, action: null, target: null, filter: null })} />
      <div role="tabpanel" aria-labelledby={`tab-${tab}`} class="tabpanel"><Shown /></div>
    </Page>
  );
}
