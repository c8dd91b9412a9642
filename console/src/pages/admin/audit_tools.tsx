// Above the audit: export of what the filters leave, and the check of the chain.
import { Alert, Button, Group, List, Menu, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download, ShieldCheck, ShieldX } from 'lucide-react';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { asProblem, type Problem } from '../../api/problem';
import { downloadText } from '../../parts/download';
import { Command, Refusal } from '../../parts/states';
import { auditCsv, auditLines, exportMax, readAudit, type Verified, verifyAudit } from './audit_export';

type Format = 'csv' | 'jsonl';

const asked = ['actor', 'operation', 'subject', 'result', 'project', 'since'];

function VerifiedView({ verified }: { verified: Verified }) {
  const good = verified.wrong === 0;
  return (
    <Alert color={good ? 'green' : 'red'} icon={good ? <ShieldCheck aria-hidden /> : <ShieldX aria-hidden />} role="status"
      title={good ? 'Every hash and seal is right.' : `${verified.wrong} things are wrong.`}>
      <Stack gap="xs">
        <Text fz="sm">
          {verified.records} records, {verified.seals} seals checked by this cloud
          {verified.beforeChain > 0 && `; ${verified.beforeChain} records are older than the chain and have no hash`}.
        </Text>
        {verified.findings.length > 0 && (
          <List size="sm">{verified.findings.map((one) => <List.Item key={`${one.number}.${one.line}.${one.message}`}>{one.position || one.number}: {one.message}</List.Item>)}</List>
        )}
        <Text fz="sm">The command calculates it again on your machine, so that you need not believe the cloud:</Text>
        <Command line="hostler audit verify" />
      </Stack>
    </Alert>
  );
}

export function AuditTools() {
  const [search] = useSearchParams();
  const [count, setCount] = useState(0);
  const query = Object.fromEntries(asked.map((name) => [name, search.get(name) ?? '']));
  const save = useMutation<void, Problem, Format>({
    mutationFn: async (format) => {
      const entries = await readAudit(query, setCount).catch((error: unknown) => Promise.reject(asProblem(error)));
      const day = new Date().toISOString().slice(0, 10);
      if (format === 'csv') downloadText(`audit-${day}.csv`, 'text/csv', auditCsv(entries));
      else downloadText(`audit-${day}.jsonl`, 'application/jsonl', auditLines(entries));
    },
  });
  const check = useMutation<Verified, Problem>({
    mutationFn: () => verifyAudit(setCount).catch((error: unknown) => Promise.reject(asProblem(error))),
  });
  const problem = save.error ?? check.error;
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Menu>
          <Menu.Target>
            <Button variant="default" size="xs" leftSection={<Download size={14} />} loading={save.isPending}>Export</Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => save.mutate('csv')}>CSV</Menu.Item>
            <Menu.Item onClick={() => save.mutate('jsonl')}>JSON, a line for each record</Menu.Item>
          </Menu.Dropdown>
        </Menu>
        <Button variant="default" size="xs" leftSection={<ShieldCheck size={14} />} loading={check.isPending} onClick={() => check.mutate()}>Verify the chain</Button>
        {(save.isPending || check.isPending) && <Text fz="sm" c="dimmed" role="status">{count} records</Text>}
        {save.isSuccess && count >= exportMax && <Text fz="sm">The file has the newest {count} records; <code>hostler audit export</code> writes all.</Text>}
      </Group>
      {problem && <Refusal problem={problem} />}
      {check.data && <VerifiedView verified={check.data} />}
    </Stack>
  );
}
