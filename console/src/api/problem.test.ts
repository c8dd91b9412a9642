import { decodeProblem } from './problem';

const answer = (body: string, status = 409) =>
  new Response(body, { status, statusText: 'Conflict', headers: { 'X-Request-Id': 'r-1' } });

test('a refusal keeps its sentence, reason, help, request and fields', async () => {
  const problem = await decodeProblem(
    answer(JSON.stringify({ detail: 'one field is wrong', code: 'invalid', help: 'see docs', errors: [{ field: 'size', message: 'is no size' }] }), 400),
  );
  expect(problem).toMatchObject({ sentence: 'one field is wrong', reason: 'invalid', help: 'see docs', requestId: 'r-1', status: 400 });
  expect(problem.errors).toEqual([{ field: 'size', message: 'is no size' }]);
});

test('without the header, the request is that of the body', async () => {
  const body = JSON.stringify({ detail: 'no', requestID: 'r-2' });
  expect((await decodeProblem(new Response(body, { status: 500 }))).requestId).toBe('r-2');
});

test('an answer that is not ours still says its status', async () => {
  expect((await decodeProblem(answer('<html>'))).sentence).toBe('The API answered 409 Conflict');
});
