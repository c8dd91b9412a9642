// The own account: password, second factor, sessions.
import { Alert, Anchor, Button, Code, Group, List, Stack, Text, TextInput } from '@mantine/core';
import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import type { Schemas } from '../../api/client';
import { usePermission, useWhoami } from '../../api/permissions';
import { useRead } from '../../api/use_read';
import { Action } from '../../parts/action';
import { PageFrame, Section } from '../../parts/page_frame';
import type { Deed } from '../../parts/resource';
import { ResourceForm } from '../../parts/resource_form';
import { SecretOnce } from '../../parts/secret_once';
import { SmallList } from '../../parts/small_list';
import { Refusal } from '../../parts/states';
import { useDeed } from '../../parts/use_deed';
import { Ago, Facts } from '../../parts/values';
import { sessions } from './sessions';

function Password() {
  const [changes, setChanges] = useState(0);
  return (
    <Section title="Password">
      <ResourceForm
        key={changes}
        fields={[
          { name: 'oldPassword', label: 'Present password', kind: 'secret', required: true },
          { name: 'newPassword', label: 'New password', kind: 'secret', required: true, help: '10 to 256 bytes.' },
        ]}
        path="/v1/password"
        command="password change"
        submit="Change the password"
        done="The password is changed. All other sessions have ended."
        kinds={['user', 'session']}
        plan={() => 'All other sessions of yours end.'}
        onDone={() => setChanges((count) => count + 1)}
      />
    </Section>
  );
}

function RecoveryCodes({ codes }: { codes: string[] }) {
  return (
    <SecretOnce title="The second factor is set up. Recovery codes:" what="the recovery codes" value={codes.join('\n')}>
      <Text fz="sm">Each stands in for a one-time code once. Keep them where the authenticator program is not.</Text>
    </SecretOnce>
  );
}

function Confirm({ enrolled, onDone }: { enrolled: Schemas['EnrolledTotp']; onDone: (codes: string[]) => void }) {
  const [code, setCode] = useState('');
  const confirm = useDeed({ kinds: ['user'], done: 'The second factor counts from now on.', onDone: (answer) => onDone((answer as Schemas['ConfirmedTotp']).recoveryCodes) });
  const submit = () => confirm.mutate({ method: 'POST', path: '/v1/totp/confirm', call: { body: { code: code.replaceAll(' ', '') } } });
  return (
    <form onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <Stack maw={640}>
        <SecretOnce title="Key for the authenticator program" what="the key" value={enrolled.secret}>
          <Text fz="sm">Type it into the program, or <Anchor href={enrolled.uri} fz="sm">open it there</Anchor>. The same as a text for QR codes:</Text>
          <Code block className="line" tabIndex={0}>{enrolled.uri}</Code>
        </SecretOnce>
        <TextInput label="Code that the program shows now" value={code} onChange={(event) => setCode(event.currentTarget.value)} inputMode="numeric" autoComplete="one-time-code" maw={240} data-autofocus
          error={confirm.error?.errors.find(({ field }) => field === 'code')?.message} />
        {confirm.error && <Refusal problem={confirm.error} />}
        <Group><Button type="submit" loading={confirm.isPending} disabled={code.trim() === ''}>Confirm</Button></Group>
      </Stack>
    </form>
  );
}

const removeFactor: Deed<null> = {
  label: 'Remove',
  method: 'POST',
  path: '/v1/totp/remove',
  permission: 'self.write',
  command: 'totp remove',
  plan: () => 'You sign in with the password alone afterwards.',
  fields: [{ name: 'code', label: 'One-time code or recovery code', kind: 'secret', required: true }],
  done: 'The second factor is removed.',
  danger: true,
};

/** `has` is unknown to people who may not read users: both buttons stand there then. */
function SecondFactor({ has, codesLeft }: { has?: boolean; codesLeft?: number }) {
  const [enrolled, setEnrolled] = useState<Schemas['EnrolledTotp']>();
  const [codes, setCodes] = useState<string[]>();
  const enrol = useDeed({ kinds: [], done: 'Confirm the second factor with a code.', onDone: (answer) => setEnrolled(answer as Schemas['EnrolledTotp']) });
  const begin = () => enrol.mutate({ method: 'POST', path: '/v1/totp', call: { body: {} } });
  const confirmed = (given: string[]) => {
    setCodes(given);
    setEnrolled(undefined);
  };
  const remove = has !== false && !enrolled && <Action deed={removeFactor} item={null} kinds={['user']} />;
  return (
    <Section title="Second factor" actions={remove}>
      <Stack>
        {codes && <RecoveryCodes codes={codes} />}
        {enrolled && <Confirm enrolled={enrolled} onDone={confirmed} />}
        {has && !codes && <Alert color="green" icon={<ShieldCheck aria-hidden />} title="Sign-in asks for a one-time code.">{codesLeft} recovery codes are left.</Alert>}
        {!has && !enrolled && !codes && (
          <>
            <Text>With a second factor, sign-in asks for a code from an authenticator program, too.</Text>
            <Group><Button variant="default" onClick={begin} loading={enrol.isPending}>Set up</Button></Group>
          </>
        )}
        {enrol.error && <Refusal problem={enrol.error} />}
      </Stack>
    </Section>
  );
}

function OfUser({ id }: { id: string }) {
  const permitted = usePermission('user.read');
  const user = useRead('/v1/users/{user}', { params: { user: id } }, { kinds: ['user'], enabled: permitted });
  return (
    <>
      <Password />
      <SecondFactor has={user.data?.hasTotp} codesLeft={user.data?.recoveryCodesLeft} />
      <Section title="Sessions"><SmallList kind={sessions} without={['login']} empty="No session is open." /></Section>
    </>
  );
}

function scopeWords(scopes: { level: string; tenantID?: string; project?: string; provider?: string; permissions: string[] }[] = []) {
  return scopes.map((scope) => `${[scope.level, scope.provider, scope.tenantID, scope.project].filter(Boolean).join(' ')}: ${scope.permissions.length} permissions`);
}

export default function AccountPage() {
  const who = useWhoami();
  const [kind, id] = who?.actor.split('/') ?? [];
  const scopes = scopeWords(who?.scopes);
  return (
    <PageFrame title="Your account">
      <Section title={who?.name ?? '–'}>
        <Facts
          facts={[
            { name: 'Signed in as', value: who?.actor },
            { name: 'Tenant', value: who && (who.tenantID || 'the operator') },
            { name: 'Credential ends', value: who?.expiresAt ? <Ago time={who.expiresAt} /> : undefined },
            { name: 'What you may do', value: scopes.length > 0 && <List size="sm" listStyleType="none">{scopes.map((words) => <List.Item key={words}>{words}</List.Item>)}</List> },
          ]}
        />
      </Section>
      {kind === 'user' && id && <OfUser id={id} />}
      {kind && kind !== 'user' && <Text c="dimmed">You are signed in with a key. Passwords, second factors and sessions are those of users.</Text>}
    </PageFrame>
  );
}
