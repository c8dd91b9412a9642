// Nodes of a cluster: where each is on its way, why it does not go on, and the steps that were done on its host.
import { Code, List, Stack, Table, Text, Timeline } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { CSSProperties, ReactNode } from 'react';
import { Link } from 'wouter';
import { usePermission } from '../../../api/permissions';
import { Action } from '../../../parts/action';
import { Section } from '../../../parts/page_frame';
import { Empty } from '../../../parts/states';
import { StateBadge, type Tone } from '../../../parts/state_badge';
import { useUrlWord } from '../../../parts/url_state';
import { Ago, Facts, Id, Lasting, Unknown } from '../../../parts/values';
import { forget } from './deeds';
import { clusterPage } from './kind';
import { type Cluster, type ClusterNode, type ClusterStep, endOf, healthText, nodesInOrder, nodeTones, roleText, type StepEnd, stepText } from './words';

function HostLink({ id }: { id: string }) {
  const permitted = usePermission('host.read');
  if (!id) return <Unknown />;
  return permitted ? <Link className="plain" href={`/hosts/${encodeURIComponent(id)}`}>{id}</Link> : <>{id}</>;
}

function NodeState({ node }: { node: ClusterNode }) {
  const tone = node.state === 'ready' && !node.healthy ? 'warn' : nodeTones[node.state];
  return <StateBadge state={node.state} tone={tone} reason={node.message} />;
}

interface Column {
  title: string;
  cell: (node: ClusterNode, cluster: Cluster) => ReactNode;
}

const columns: Column[] = [
  { title: 'Name', cell: (node, cluster) => <Link className="plain" href={clusterPage(cluster, 'nodes', { node: node.name })}>{node.name}</Link> },
  { title: 'Role', cell: roleText },
  { title: 'State', cell: (node) => <NodeState node={node} /> },
  { title: 'Health', cell: healthText },
  { title: 'Step', cell: stepText },
  { title: 'Why', cell: ({ message, leftovers, wanted }) => message || leftovers.join(', ') || (wanted ? '' : 'it is to leave') },
  { title: 'Host', cell: ({ host }) => <HostLink id={host} /> },
  { title: 'Zone', cell: ({ zone }) => zone },
  { title: 'GPUs', cell: ({ gpus }) => <span className="number">{gpus}</span> },
  { title: 'Since', cell: ({ stateSince }) => <Ago time={stateSince} /> },
];

interface Drawn {
  cluster: Cluster;
  nodes: ClusterNode[];
}

function ForgetButton({ node }: { node: ClusterNode }) {
  return <Action deed={forget} item={node} kinds={['cluster', 'host']} button={{ size: 'compact-xs' }} />;
}

// Names stand in one line; what programs say breaks anywhere.
const cellStyles: Record<string, CSSProperties> = { Name: { whiteSpace: 'nowrap' }, Host: { whiteSpace: 'nowrap' }, Why: { overflowWrap: 'anywhere', minWidth: 180 } };

function NodeTable({ cluster, nodes }: Drawn) {
  const mayForget = usePermission('cluster.admin') && nodes.some(({ state }) => state === 'unclean');
  return (
    <Table.ScrollContainer minWidth={980} type="native" tabIndex={0} role="region" aria-label="Nodes">
      <Table aria-label="Nodes" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>{[...columns.map(({ title }) => title), ...(mayForget ? ['Actions'] : [])].map((title) => <Table.Th key={title} scope="col" fz="xs">{title}</Table.Th>)}</Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {nodes.map((node) => (
            <Table.Tr key={node.id}>
              {columns.map(({ title, cell }) => <Table.Td key={title} style={cellStyles[title]}>{cell(node, cluster) || <Unknown />}</Table.Td>)}
              {mayForget && <Table.Td><ForgetButton node={node} /></Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function NodeCards({ cluster, nodes }: Drawn) {
  return (
    <ul className="cards" aria-label="Nodes">
      {nodes.map((node) => (
        <li key={node.id}>
          <div className="tile">
            <dl className="pairs">
              {columns.map(({ title, cell }) => (
                <div key={title} style={{ display: 'contents' }}>
                  <dt>{title}</dt>
                  <dd>{cell(node, cluster) || <Unknown />}</dd>
                </div>
              ))}
            </dl>
            <ForgetButton node={node} />
          </div>
        </li>
      ))}
    </ul>
  );
}

const endTones: Record<StepEnd, Tone> = { done: 'ok', failed: 'bad', running: 'busy' };

/** The newest first. */
function Steps({ steps }: { steps: ClusterStep[] }) {
  if (steps.length === 0) return <Text c="dimmed">No step has begun on its host.</Text>;
  return (
    <Timeline bulletSize={14} lineWidth={2}>
      {steps.map((step, index) => (
        <Timeline.Item key={`${step.beganAt} ${index}`} title={<Code>{step.step}</Code>}>
          <StateBadge state={endOf(step)} tone={endTones[endOf(step)]} />
          {step.problem && <Text fz="sm" className="breakable">{step.problem}</Text>}
          <Text fz="xs" c="dimmed">
            <Ago time={step.beganAt} /> · attempt {step.attempt} · <Lasting from={step.beganAt} to={step.endedAt} />
          </Text>
        </Timeline.Item>
      )).reverse()}
    </Timeline>
  );
}

function OneNode({ node }: { node: ClusterNode }) {
  return (
    <Section title={node.name} actions={<ForgetButton node={node} />}>
      <Stack>
        <Facts
          facts={[
            { name: 'Id', value: <Id value={node.id} /> },
            { name: 'Role', value: roleText(node) },
            { name: 'State', value: <><NodeState node={node} /> <Ago time={node.stateSince} /></> },
            { name: 'Health', value: healthText(node) },
            { name: 'Step', value: stepText(node) },
            { name: 'Reason', value: node.reason && <Code>{node.reason}</Code> },
            { name: 'Message', value: node.message },
            { name: 'To stay', value: node.wanted ? 'yes' : 'no, it leaves' },
            { name: 'Host', value: <HostLink id={node.host} /> },
            { name: 'Zone', value: node.zone },
            { name: 'GPUs', value: node.gpus },
            { name: 'Claimed', value: <Ago time={node.createdAt} /> },
          ]}
        />
        {node.leftovers.length > 0 && (
          <div>
            <Text>Parts of the cluster that are still on its host:</Text>
            <List size="sm">{node.leftovers.map((part) => <List.Item key={part} className="breakable">{part}</List.Item>)}</List>
          </div>
        )}
        <Steps steps={node.timeline} />
      </Stack>
    </Section>
  );
}

export function ClusterNodes({ cluster }: { cluster: Cluster }) {
  const [name] = useUrlWord('node');
  const narrow = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const nodes = nodesInOrder(cluster.nodes);
  const chosen = nodes.find((node) => node.name === name || node.id === name);
  const Drawing = narrow ? NodeCards : NodeTable;
  return (
    <Stack>
      {name && !chosen && <Text role="status">{name} is no node of this cluster now.</Text>}
      {chosen && <OneNode node={chosen} />}
      <Section title="Nodes">
        {nodes.length === 0
          ? <Empty text="No host is a node of it yet. The overview says why." command={`hostler cluster explain ${cluster.id}`} />
          : <Drawing cluster={cluster} nodes={nodes} />}
      </Section>
    </Stack>
  );
}
