// The official TypeScript SDK as a client: it is strict about shapes, so what it accepts is shaped
// as the protocol wants. Usage: node sdk_client.mjs PROGRAM ARGUMENTS... ; prints one line for each
// thing that holds, and exits with 1 at the first that does not.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";

const [program, ...rest] = process.argv.slice(2);

const holds = (what) => console.log(`holds: ${what}`);

// One conversation with one run of the program, which then has to exit with 0 by itself.
async function converse(talk) {
  const child = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise((resolve) => child.on("exit", (...how) => resolve(how)));
  const updates = [];
  const seen = () => updates.map((each) => each.update);
  const app = client({ name: "quiesce-clients" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .onRequest(methods.client.session.requestPermission, ({ params }) => ({
      outcome: { outcome: "selected", optionId: params.options[0].optionId },
    }));
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const answer = await app.connectWith(stream, async (agent) => {
    const opened = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    assert.equal(opened.protocolVersion, PROTOCOL_VERSION);
    return talk(agent, seen, opened.agentCapabilities);
  });
  child.stdin.end();
  assert.deepEqual(await exited, [0, null]);
  return answer;
}

const later = () => new Promise((resolve) => setTimeout(resolve, 10));
const text = (words) => [{ type: "text", text: words }];
const said = (updates, kind) =>
  updates.filter((each) => each.sessionUpdate === kind).map((each) => each.content.text).join("");

const kept = await converse(async (agent, seen, offered) => {
  assert.equal(offered.loadSession, true);
  holds("initialize answers with the version and what is offered");
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
  const done = await agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: text("hello"),
  });
  assert.equal(done.stopReason, "end_turn");
  assert.equal(said(seen(), "agent_message_chunk"), "well said");
  holds("a prompt streams its updates and then ends");

  const running = agent.request(methods.agent.session.prompt, { sessionId, prompt: text("hang") });
  while (!said(seen(), "agent_message_chunk").includes("thinking")) await later();
  const queued = agent.request(methods.agent.session.prompt, { sessionId, prompt: text("hang") });
  await agent.notify(methods.agent.session.cancel, { sessionId });
  const third = agent.request(methods.agent.session.prompt, { sessionId, prompt: text("hello") });
  const reasons = (await Promise.all([running, queued, third])).map((each) => each.stopReason);
  assert.deepEqual(reasons, ["cancelled", "cancelled", "end_turn"]);
  holds("a cancel reaches the running and the queued prompt, and not the next");

  const { sessions } = await agent.request(methods.agent.session.list, {});
  assert.deepEqual(sessions.map((each) => each.sessionId), [sessionId]);
  holds("the session is listed");
  await assert.rejects(
    agent.request(methods.agent.session.prompt, { sessionId: "nobody", prompt: text("x") }),
    (error) => error.code === -32002,
  );
  holds("an unknown session is not found");
  return sessionId;
});
holds("the program exits with 0 when its input ends");

await converse(async (agent, seen) => {
  await agent.request(methods.agent.session.load, { sessionId: kept, cwd: "/", mcpServers: [] });
  assert.equal(said(seen(), "user_message_chunk"), "hellohanghello");
  assert.equal(said(seen(), "agent_message_chunk"), "well saidthinkingwell said");
  holds("a load shows everything before it is answered");
  await agent.request(methods.agent.session.close, { sessionId: kept });
  await agent.request(methods.agent.session.load, { sessionId: kept, cwd: "/", mcpServers: [] });
  holds("a closed session can be loaded again");
  void agent
    .request(methods.agent.session.prompt, { sessionId: kept, prompt: text("hang") })
    .catch(() => undefined);
});
holds("the program exits with 0 in the middle of a prompt");
