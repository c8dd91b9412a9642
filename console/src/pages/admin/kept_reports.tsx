// Reports that schedules have made.
import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { type Schemas, send } from '../../api/client';
import { asProblem, type Problem } from '../../api/problem';
import { downloadText } from '../../parts/download';
import { resource } from '../../parts/resource';
import { Ago } from '../../parts/values';
import { reportLinks } from './links';

const forms = [
  { label: 'Page (HTML)', query: { format: 'html' } },
  { label: 'Usage (CSV)', query: { format: 'csv', section: 'usage' } },
  { label: 'Waste (CSV)', query: { format: 'csv', section: 'waste' } },
  { label: 'Everything (JSON)', query: { format: 'json' } },
] as const;

type Form = (typeof forms)[number];

function DownloadMenu({ id }: { id: string }) {
  const save = useMutation<void, Problem, Form>({
    mutationFn: async ({ query }) => {
      const file = await send<Schemas['ReportDocument']>('GET', '/v1/kept-reports/{report}/document', { params: { report: id }, query });
      downloadText(file.name, file.contentType, file.text);
    },
    onError: (error) => notifications.show({ message: asProblem(error).sentence, color: 'red' }),
  });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="compact-xs" variant="default" leftSection={<Download size={12} />} loading={save.isPending}>Download</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {forms.map((form) => <Menu.Item key={form.label} onClick={() => save.mutate(form)}>{form.label}</Menu.Item>)}
      </Menu.Dropdown>
    </Menu>
  );
}

const day = (time: string) => new Date(time).toLocaleDateString(undefined, { dateStyle: 'medium' });

export const keptReports = resource('/v1/kept-reports', {
  noun: 'report',
  title: 'Kept reports',
  page: '/reports/kept',
  kinds: ['report'],
  permission: 'gpu.usage',
  id: ({ id }) => id,
  name: ({ id }) => id,
  place: ({ tenantID }) => ({ tenantID }),
  above: reportLinks,
  columns: [
    { key: 'schedule', title: 'Schedule', value: ({ schedule }) => schedule },
    { key: 'period', title: 'Period', value: ({ from }) => from, cell: ({ from, to }) => `${day(from)} to ${day(to)}` },
    { key: 'made', title: 'Made', value: ({ madeAt }) => madeAt, cell: ({ madeAt }) => <Ago time={madeAt} />, width: '140px' },
    { key: 'sent', title: 'Sent', value: ({ sentAt }) => sentAt, cell: ({ sentAt }) => (sentAt ? <Ago time={sentAt} /> : 'no'), width: '140px' },
    { key: 'of', title: 'Of', value: ({ tenantID }) => tenantID || 'the operator', width: '140px', wideOnly: true },
    { key: '', title: 'File', value: () => undefined, cell: ({ id }) => <DownloadMenu id={id} />, width: '150px', align: 'right' },
  ],
  filters: [{ name: 'schedule', label: 'Schedule' }],
  empty: { text: 'Schedules make reports at the end of each day, week or month. They stand here.', command: 'hostler report schedule create weekly --by tenant --every week' },
});
