// Queues with their shares, as a tree: who has what of the cloud, who is entitled to what, and who is next.
import { ActionIcon, Badge, Button, Group, Modal, Stack, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { usePermission } from '../../../api/permissions';
import { useList } from '../../../api/use_read';
import { Action } from '../../../parts/action';
import { PageFrame } from '../../../parts/page_frame';
import { ResourceForm } from '../../../parts/resource_form';
import { RowDialogs } from '../../../parts/row_dialog';
import { Empty, Loading, Refusal } from '../../../parts/states';
import { Ago } from '../../../parts/values';
import { clockText } from '../../../parts/words';
import { projectField, tenantField } from '../../admin/fields';
import { changeQueue, clearQueue, placeOf, settingsFields, withoutEmptyAmounts } from './deeds';
import { ShareBar, ShareLegend } from './share_bar';
import { amountText, jobsPage, nameOf, percentText, type Queue, type QueueNode, treeOf } from './tree';

// Shares move with each job, of which no change of a queue tells.
const askAgain = 5000;

// With more queues, those of users are closed at first.
const openMax = 40;

interface JobsLinkProps {
  queue: Queue;
  which: 'waiting' | 'active';
  count: number;
  /** "waits" */
  one: string;
  /** "wait" */
  many: string;
}

function JobsLink({ queue, which, count, one, many }: JobsLinkProps) {
  const permitted = usePermission('job.read', queue);
  const text = count === 0 ? `none ${one}` : `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
  return count > 0 && permitted ? <Link className="plain" href={jobsPage(queue, which)}>{text}</Link> : <span>{text}</span>;
}

/** What decides about its turn, in words. */
function Numbers({ queue }: { queue: Queue }) {
  const { weight, guaranteed, most, running, usedMilli, waitsSince } = queue;
  const has = amountText(running);
  return (
    <Group gap="2px 10px" fz="xs" c="dimmed" className="queue-numbers">
      <JobsLink queue={queue} which="waiting" count={queue.waitingElements} one="waits" many="wait" />
      {waitsSince && <span>the oldest <Ago time={waitsSince} /></span>}
      <JobsLink queue={queue} which="active" count={queue.runningElements} one="runs" many="run" />
      {has && queue.runningElements > 0 && <span>with {has}</span>}
      <span>weight {weight}</span>
      {guaranteed && <span>{amountText(guaranteed)} guaranteed</span>}
      {most && <span>at most {amountText(most)}</span>}
      <Tooltip label="Counts half after each day. The share now and this one, by weight, decide who is next."><span>{percentText(usedMilli)} lately</span></Tooltip>
    </Group>
  );
}

function Signs({ node: { next, queue } }: { node: QueueNode }) {
  return (
    <>
      {next && <Badge variant="light" color="green" size="sm" tt="none">next</Badge>}
      {queue.belowGuarantee && <Badge variant="light" color="blue" size="sm" tt="none">below its guarantee</Badge>}
      {queue.borrows && <Badge variant="light" color="violet" size="sm" tt="none">borrows</Badge>}
    </>
  );
}

const heights = [700, 600, 400];

interface RowProps {
  node: QueueNode;
  opened?: boolean;
  toggle: () => void;
}

function Row({ node, opened, toggle }: RowProps) {
  const { queue, depth } = node;
  const name = nameOf(queue, depth === 0);
  return (
    <div className="queue-row">
      <Group gap="xs" wrap="nowrap" align="flex-start">
        {opened === undefined ? <span className="queue-toggle" /> : (
          <ActionIcon variant="subtle" color="gray" size="sm" onClick={toggle} aria-expanded={opened} aria-label={`Queues of ${name}`}>
            {opened ? <ChevronDown size={16} /> : <ChevronRight size={16} />}
          </ActionIcon>
        )}
        <Stack gap={4} style={{ flex: 1, minWidth: 0 }}>
          <Group justify="space-between" gap="xs">
            <Group gap="xs"><Text fw={heights[depth] ?? 400} className="breakable">{name}</Text><Signs node={node} /></Group>
            <Text fz="sm" className="number">has {percentText(queue.shareMilli)}, entitled to {percentText(queue.entitledMilli)}</Text>
          </Group>
          <ShareBar queue={queue} scale={node.scale} label={`Share of ${name}`} />
          <Group justify="space-between" gap="xs">
            <Numbers queue={queue} />
            <Group gap="xs">
              <Action deed={changeQueue} item={queue} kinds={['queue']} place={placeOf} button={{ size: 'compact-xs' }} />
              <Action deed={clearQueue} item={queue} kinds={['queue']} place={placeOf} button={{ size: 'compact-xs' }} />
            </Group>
          </Group>
        </Stack>
      </Group>
    </div>
  );
}

function Branch({ nodes, many, label }: { nodes: QueueNode[]; many: boolean; label: string }) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string) => setToggled((before) => new Set(before.has(key) ? [...before].filter((one) => one !== key) : [...before, key]));
  return (
    <ul className="queue-tree" aria-label={label}>
      {nodes.map((node) => {
        const { key, queue, children } = node;
        const opened = children.length > 0 ? (many && queue.project !== '') === toggled.has(key) : undefined;
        return (
          <li key={key}>
            <Row node={node} opened={opened} toggle={() => toggle(key)} />
            {opened && <Branch nodes={children} many={many} label={`Queues of ${nameOf(queue)}`} />}
          </li>
        );
      })}
    </ul>
  );
}

function NewSettings() {
  const permitted = usePermission('queue.write');
  const [opened, dialog] = useDisclosure(false);
  if (!permitted) return null;
  return (
    <>
      <Button onClick={dialog.open}>Set a queue</Button>
      <Modal opened={opened} onClose={dialog.close} title="Set a queue" size="lg" closeButtonProps={{ 'aria-label': 'Close' }}>
        <ResourceForm
          fields={[
            { ...tenantField, more: false },
            { ...projectField, help: 'Without one: the queue of the whole tenant, which only an operator sets.' },
            { name: 'user', label: 'Person or service account', placeholder: 'user/ann@example.com', help: 'In this project. Without one: all of it.' },
            ...settingsFields(),
          ]}
          method="PUT"
          path="/v1/queues"
          command="queue set"
          submit="Set"
          done="The queue is set."
          kinds={['queue']}
          shape={withoutEmptyAmounts}
          onDone={dialog.close}
          plan={() => 'It replaces the present settings of this queue. What runs keeps running.'}
        />
      </Modal>
    </>
  );
}

function QueueTree() {
  const list = useList('/v1/queues', { limit: 500 }, { kinds: ['queue'], every: askAgain });
  const retry = () => void list.refetch();
  if (!list.data) return list.error ? <Refusal problem={list.error} retry={retry} /> : <Loading lines={6} />;
  const queues = list.data.pages.flatMap((page) => page.items);
  if (queues.length === 0)
    return <Empty text="A queue is there as long as a job waits or runs in it, or it has settings: a weight, a guarantee or a limit." action={<NewSettings />} command="hostler queue set --project lab --weight 2" />;
  return (
    <>
      {list.error && <Refusal problem={list.error} retry={retry} />}
      {list.error && <Text fz="sm" c="dimmed">as of {clockText(list.dataUpdatedAt)}</Text>}
      <Stack gap="sm" className={list.error ? 'stale' : undefined}>
        <ShareLegend />
        <div className="tile"><RowDialogs><Branch nodes={treeOf(queues)} many={queues.length > openMax} label="Queues" /></RowDialogs></div>
        {list.hasNextPage && <Group><Button variant="default" onClick={() => void list.fetchNextPage()} loading={list.isFetchingNextPage}>More</Button></Group>}
      </Stack>
    </>
  );
}

export default function QueuesPage() {
  return (
    <PageFrame title="Queues" lead="How tenants, their projects and their people share the cloud with jobs: the part that each has, of the part that it is entitled to." actions={<NewSettings />}>
      <QueueTree />
    </PageFrame>
  );
}
