// Usage and waste of GPUs, by any grouping and time, with what idle hours cost.
import { Button, Group, SegmentedControl, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { Redirect } from 'wouter';
import type { Schemas } from '../../api/client';
import { asProblem, type Problem } from '../../api/problem';
import { useRead } from '../../api/use_read';
import type { PageProps } from '../../app/pages';
import { Bar, Columns, Legend } from '../../parts/bars';
import { downloadText, fetchText } from '../../parts/download';
import { Figure } from '../../parts/figure';
import { PageFrame, Section } from '../../parts/page_frame';
import { AsyncView, Empty, Refusal } from '../../parts/states';
import { useTypedWord, useUrlWord } from '../../parts/url_state';
import { Ago } from '../../parts/values';
import { durationOf } from '../../parts/form_values';
import { countText } from '../../parts/words';
import { reportLinks } from './links';
import { claimedParts, costText, groupText, hoursText, type Line, percentText, sliceParts, type Waste } from './usage_words';

type Report = Schemas['Report'];
type View = 'usage' | 'waste';

const ranges = ['-24h', '-7d', '-30d', '-90d'];
const groupings = [
  { value: 'tenant', label: 'tenant' }, { value: 'instance', label: 'instance' }, { value: 'tenant,class', label: 'tenant and GPU class' },
  { value: 'class', label: 'GPU class' }, { value: 'zone', label: 'zone' }, { value: 'host_name', label: 'host' }, { value: 'day', label: 'day' }, { value: 'tenant,day', label: 'tenant and day' },
];

function useReportQuery() {
  const [by] = useUrlWord('by');
  const [from] = useUrlWord('from', '-7d');
  const [where] = useUrlWord('where');
  return { by, where, since: Number(durationOf(from.replace(/^-/, ''))) };
}

function WhereInput() {
  const [typed, type] = useTypedWord('where');
  return <TextInput size="xs" label="Only GPUs with" placeholder="zone=lon tenant=acme" value={typed} onChange={(event) => type(event.currentTarget.value)} />;
}

function Controls() {
  const [by, setBy] = useUrlWord('by');
  const [from, setFrom] = useUrlWord('from', '-7d');
  return (
    <Group gap="md" align="flex-end">
      <SegmentedControl size="xs" aria-label="Time range" value={from} onChange={setFrom} data={ranges.map((range) => ({ value: range, label: range.slice(1) }))} />
      <Select size="xs" label="Grouped by" placeholder="default" data={groupings} value={by || null} onChange={(next) => setBy(next ?? '')} clearable />
      <WhereInput />
    </Group>
  );
}

function CsvButton({ view }: { view: View }) {
  const query = useReportQuery();
  const save = useMutation<void, Problem>({
    mutationFn: async () => {
      const text = await fetchText(`/v1/reports/${view}`, { ...query, format: 'csv' }).catch((error: unknown) => Promise.reject(asProblem(error)));
      downloadText(`${view}-${new Date().toISOString().slice(0, 10)}.csv`, 'text/csv', text);
    },
  });
  return (
    <>
      <Button variant="default" size="xs" leftSection={<Download size={14} />} loading={save.isPending} onClick={() => save.mutate()}>CSV</Button>
      {save.error && <Refusal problem={save.error} />}
    </>
  );
}

function Totals({ report }: { report: Report }) {
  const { total } = report;
  const idleShare = total.claimedHours > 0 ? percentText((100 * total.idleHours) / total.claimedHours) : '–';
  return (
    <SimpleGrid cols={{ base: 2, md: 5 }} spacing="sm">
      <Figure name="Claimed GPU-hours" note={`of ${hoursText(total.measuredHours)} measured`}>{hoursText(total.claimedHours)}</Figure>
      <Figure name="Utilization" note={`${hoursText(total.busyHours)} busy`}>{percentText(total.utilizationPercent)}</Figure>
      <Figure name="Idle" note={`${idleShare} of claimed`}>{hoursText(total.idleHours)}</Figure>
      <Figure name="Cost of idle hours" note="at the prices of that time">{costText(report.idleCosts)}</Figure>
      <Figure name="Energy">{`${Math.round(total.energyKwh).toLocaleString('en')} kWh`}</Figure>
    </SimpleGrid>
  );
}

function OverTime({ report }: { report: Report }) {
  const number = (value: number) => String(Number(value.toFixed(1)));
  const columns = report.timeline.map((slice) => ({ label: new Date(slice.from).toLocaleString(), parts: sliceParts(slice) }));
  if (columns.length === 0) return null;
  return (
    <Section title="GPUs over time" actions={<Legend parts={columns[0]?.parts ?? []} />}>
      <Columns columns={columns} label="GPUs over time" words={number} />
      <Group justify="space-between">
        <Text fz="xs" c="dimmed">{new Date(report.from).toLocaleString()}</Text>
        <Text fz="xs" c="dimmed">{new Date(report.to).toLocaleString()}</Text>
      </Group>
    </Section>
  );
}

function UsageRows({ lines, most }: { lines: Line[]; most: number }) {
  return lines.map((line) => (
    <div key={groupText(line.labels)} className="report-line">
      <Group justify="space-between" gap="xs">
        <Text fw={600} className="breakable">{groupText(line.labels)}</Text>
        <Text fz="sm" c="dimmed">
          {countText(line.gpus, 'GPU')} · {hoursText(line.claimedHours)} claimed · {percentText(line.utilizationPercent)} used · {hoursText(line.idleHours)} idle
        </Text>
      </Group>
      <Bar parts={claimedParts(line)} of={most} label={groupText(line.labels)} words={hoursText} />
    </div>
  ));
}

function wasteParts({ claimedHours, idleHours }: Waste) {
  return [
    { label: 'idle', value: idleHours, color: 'orange' },
    { label: 'not idle', value: Math.max(0, claimedHours - idleHours), color: 'blue' },
  ];
}

function WasteRows({ lines, most }: { lines: Waste[]; most: number }) {
  return lines.map((line) => (
    <div key={groupText(line.labels)} className="report-line">
      <Group justify="space-between" gap="xs">
        <Text fw={600} className="breakable">{groupText(line.labels)}</Text>
        <Text fz="sm" c="dimmed">
          {hoursText(line.idleHours)} idle of {hoursText(line.claimedHours)} · {costText(line.idleCosts)}
          {line.idleSince && <> · idle since <Ago time={line.idleSince} /></>}
        </Text>
      </Group>
      <Bar parts={wasteParts(line)} of={most} label={groupText(line.labels)} words={hoursText} />
      {line.advice && <Text fz="sm" mt={4}>{line.advice}</Text>}
    </div>
  ));
}

function Lines({ report, view }: { report: Report; view: View }) {
  const lines = view === 'usage' ? report.usage : report.waste;
  const most = Math.max(0, ...lines.map((line) => line.claimedHours));
  const legend = view === 'usage' ? claimedParts(report.total) : [{ label: 'idle', color: 'orange' }, { label: 'not idle', color: 'blue' }];
  return (
    <Section title={`By ${report.by.replaceAll(',', ', ')}`} actions={<Legend parts={legend} />}>
      <Stack gap="md">
        {view === 'usage' ? <UsageRows lines={report.usage} most={most} /> : <WasteRows lines={report.waste} most={most} />}
      </Stack>
      {report.leftOut > 0 && <Text fz="sm" c="dimmed" mt="sm">{report.leftOut} more groups are left out; the CSV has all.</Text>}
    </Section>
  );
}

function isBare(report: Report): boolean {
  return report.usage.length === 0 && report.waste.length === 0;
}

function ReportView({ view }: { view: View }) {
  const query = useReportQuery();
  const report = useRead(`/v1/reports/${view}`, { query: { ...query, top: 100 } }, { every: 60_000 });
  const empty = <Empty text="No GPU was measured in this time. Reports cover what hosts have reported." command={`hostler report ${view} --since 7d`} />;
  return (
    <AsyncView query={report} isEmpty={isBare} empty={empty} lines={8}>
      {(answer) => (
        <Stack>
          <Totals report={answer} />
          <OverTime report={answer} />
          <Lines report={answer} view={view} />
        </Stack>
      )}
    </AsyncView>
  );
}

export default function UsagePage({ params }: PageProps) {
  const view = params.view;
  if (view !== 'usage' && view !== 'waste') return <Redirect to="/reports/usage" replace />;
  return (
    <PageFrame
      title={view === 'usage' ? 'Usage' : 'Waste'}
      lead={view === 'usage' ? 'How long GPUs were claimed, and how busy they were.' : 'Claimed GPUs that did nothing, and what that cost.'}
      actions={<CsvButton view={view} />}
    >
      {reportLinks()}
      <Controls />
      <ReportView view={view} />
    </PageFrame>
  );
}
